#include "server/service/writer.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace gleaner::service {
namespace {
constexpr std::size_t batch_max = 200;  // beyond it a sync costs less than a hundredth of the work it covers
}

Writer::Writer(storage::Store& store, std::function<Status()> reload)
    : store_(store), reload_(std::move(reload)) {}

Writer::~Writer() {
  stop();
}

void Writer::start() {
  thread_ = std::thread([this] { run(); });
}

void Writer::submit(Operation operation, Completion completion) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      queue_.push_back({std::move(operation), std::move(completion)});
      wake_.notify_one();
      return;
    }
  }
  completion(Error{ErrorKind::unavailable, "the server is shutting down: try again later"});
}

void Writer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Writer::run() {
  for (;;) {
    std::deque<Entry> batch;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      while (!queue_.empty() && batch.size() < batch_max) {
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    run_batch(std::move(batch));
  }
}

void Writer::run_batch(std::deque<Entry> batch) {
  Status status = store_.begin();
  for (auto& entry : batch) {
    if (!status.ok()) break;
    status = entry.operation();
  }
  if (status.ok()) status = store_.commit();
  if (!status.ok()) {
    store_.rollback();
    spdlog::error("the store refused a transaction of {} operations: {}", batch.size(),
                  status.error().message);
    if (const Status reloaded = reload_(); !reloaded.ok())
      spdlog::critical("the store cannot be read back: {}", reloaded.error().message);
    status = Error{ErrorKind::unavailable, "the server could not store this (" + status.error().message +
                                               "): nothing was accepted, try again later"};
  }
  for (auto& entry : batch) entry.completion(status);
}

}  // namespace gleaner::service
