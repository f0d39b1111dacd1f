#include "server/relay/result_carrier.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "shared/base/thread_name.h"
#include "shared/transport/upload.h"

namespace gleaner::relay {

ResultCarrier::~ResultCarrier() {
  stop();
}

void ResultCarrier::start() {
  http_ = parent_.make_client();
  thread_ = std::thread([this] {
    name_this_thread("results");
    run();
  });
}

void ResultCarrier::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

ResultCarrier::Place ResultCarrier::place(const std::string& digest) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(digest);
  return found == places_.end() ? Place::here : found->second;
}

void ResultCarrier::bring(const std::string& digest, std::function<Result<Bytes>()> read) {
  {
    const std::lock_guard lock(mutex_);
    if (!places_.try_emplace(digest, Place::under_way).second) return;
    loads_.push_back({digest, std::move(read)});
  }
  wake_.notify_all();
}

void ResultCarrier::named(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  places_.erase(digest);
}

Status ResultCarrier::carry(const Load& load) {
  TRY_ASSIGN(const Bytes bytes, load.read());
  transport::JobContext context{*http_, stopping_, nullptr, nullptr};
  return transport::upload(context, parent_.server(), load.digest, bytes, pieces_);
}

void ResultCarrier::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !loads_.empty(); });
    if (stopping_) return;
    const Load load = std::move(loads_.front());
    loads_.pop_front();
    lock.unlock();
    const Status done = carry(load);
    if (!done.ok() && !stopping_)
      spdlog::warn("a result is not with the parent yet: {}", done.error().message);
    lock.lock();
    if (done.ok()) {
      places_[load.digest] = Place::above;
      arrived_ = true;
      tell_arrived_();
    } else {
      places_.erase(load.digest);
    }
  }
}

}  // namespace gleaner::relay
