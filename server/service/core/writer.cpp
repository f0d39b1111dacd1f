#include "server/service/core/writer.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "server/service/core/load_model.h"
#include "shared/base/failpoint.h"
#include "shared/base/thread_name.h"

namespace gleaner::service {
namespace {
constexpr std::size_t batch_max = 200;  // beyond it a sync costs less than a hundredth of the work it covers
constexpr std::size_t failures_counted = 3;
}  // namespace

Writer::Writer(storage::Store& store, const Settings& settings, io::Files& files, Clock& clock)
    : store_(store), settings_(settings), files_(files), clock_(clock) {}

Writer::~Writer() {
  stop();
}

void Writer::start(Perform perform, Deliver deliver, Operation resume, Operation settle) {
  perform_ = std::move(perform);
  deliver_ = std::move(deliver);
  resume_ = std::move(resume);
  settle_ = std::move(settle);
  thread_ = std::thread([this] { run(); });
}

void Writer::submit(Operation operation, Completion completion) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      queue_.push_back({std::move(operation), std::move(completion), clock_.steady()});
      if (!gathering_ || queue_.size() >= batch_max) wake_.notify_one();
      if (submitted_) submitted_();
      return;
    }
  }
  if (const Answer answer =
          completion(Error{ErrorKind::unavailable, "the server is shutting down: try again later"}))
    answer();
}

void Writer::submit_surely(Operation operation) {
  submit(operation, [this, operation](Status status) -> Answer {
    if (status.ok()) return {};
    const std::lock_guard lock(mutex_);
    again_.push_back(operation);
    return {};
  });
}

void Writer::retry() {
  std::vector<Operation> again;
  {
    const std::lock_guard lock(mutex_);
    again.swap(again_);
  }
  for (auto& operation : again) submit_surely(std::move(operation));
}

void Writer::watch(std::function<void()> submitted) {
  const std::lock_guard lock(mutex_);
  submitted_ = std::move(submitted);
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
  name_this_thread("writer");
  for (;;) {
    std::deque<Entry> batch;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      gather(lock);
      while (!queue_.empty() && batch.size() < batch_max) {
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      batch_since_ = begun_ = clock_.steady();
    }
    run_batch(std::move(batch));
    const std::lock_guard lock(mutex_);
    batch_since_.reset();
  }
}

void Writer::gather(std::unique_lock<std::mutex>& lock) {
  if (!begun_ || settings_.gather == Duration{0}) return;
  const Duration left = *begun_ + settings_.gather - clock_.steady();
  gathering_ = true;
  wake_.wait_for(lock, left, [this] { return stopping_ || queue_.size() >= batch_max; });
  gathering_ = false;
}

Status Writer::reload() {
  auto fresh = load_model(store_, files_, settings_, clock_.now());
  stale_ = !fresh.ok();
  if (stale_) {
    if (const auto line = unreadable_.say(fresh.error().message, clock_.steady()))
      spdlog::critical("the store cannot be read back: {}", *line);
    return fresh.error();
  }
  model_ = std::move(*fresh);
  model_.underway = underway_;  // the pool goes on with its jobs
  fresh_ = true;
  return {};
}

Status Writer::operate(const Operation& operation, Effects& effects) {
  Transaction tx{store_, model_, effects, settings_, clock_.now(), calendar_.agreed()};
  TRY(operation(tx));
  return tx.due.empty() ? Status{} : settle_(tx);
}

Status Writer::transact(const std::deque<Entry>& batch, Effects& effects, Duration& commit) {
  if (stale_) TRY(reload());
  calendar_.look(clock_.now(), clock_.steady());
  Status status = store_.begin();
  if (status.ok() && fresh_) status = operate(resume_, effects);
  for (const auto& entry : batch)
    if (status.ok()) status = operate(entry.operation, effects);
  if (status.ok()) {
    const SteadyTime before = clock_.steady();
    status = store_.commit();
    commit = clock_.steady() - before;
  }
  if (status.ok()) {
    underway_ = model_.underway;
    fresh_ = false;
    if (model_.log) model_.log->settle();
    return {};
  }
  store_.rollback();
  (void)reload();  // says itself what is wrong; the next batch tries again
  return status;
}

void Writer::note(const std::deque<Entry>& batch, const Status& status, Duration commit) {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.steady();
  for (const auto& entry : batch) figures_.operation_seconds.observe(to_seconds(now - entry.since));
  figures_.commit_seconds.observe(to_seconds(commit));
  figures_.batch_operations.observe(static_cast<double>(batch.size()));
  figures_.failing = !status.ok();
  if (!figures_.failing) return;
  ++figures_.transactions_failed;
  failed_at_.push_back(now);
  if (failed_at_.size() > failures_counted) failed_at_.pop_front();
}

bool Writer::refuses() const {
  const std::lock_guard lock(mutex_);
  return failed_at_.size() == failures_counted &&
         clock_.steady() - failed_at_.front() <= std::chrono::minutes{1};
}

WriterFigures Writer::figures() const {
  const std::lock_guard lock(mutex_);
  WriterFigures figures = figures_;
  figures.waiting = queue_.size();
  if (batch_since_)
    figures.idle = clock_.steady() - *batch_since_;
  else if (!queue_.empty())
    figures.idle = clock_.steady() - queue_.front().since;
  return figures;
}

void Writer::run_batch(std::deque<Entry> batch) {
  Effects effects;
  Duration commit{};
  Status status = transact(batch, effects, commit);
  note(batch, status, commit);
  if (status.ok()) {
    unreadable_.clear();
    perform_(effects.take());
    (void)failpoint("effects-performed");
  } else {
    if (const auto line = refused_.say(status.error().message, clock_.steady()))
      spdlog::error("the store refused a transaction: {}", *line);
    status = Error{ErrorKind::unavailable, "the server could not store this (" + status.error().message +
                                               "): nothing was accepted, try again later"};
  }
  std::vector<Answer> answers;
  for (auto& entry : batch)
    if (Answer answer = entry.completion(status)) answers.push_back(std::move(answer));
  if (!answers.empty()) deliver_(std::move(answers));
}

}  // namespace gleaner::service
