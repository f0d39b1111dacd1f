#include "shared/base/thread_pool.h"

#include <utility>

#include "shared/base/thread_name.h"

namespace gleaner {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  } catch (...) {
    stop();  // no thread outlives its owner
    throw;
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

bool ThreadPool::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ThreadPool::run() {
  name_this_thread("pool");
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !jobs_.empty() || (stopping_ && busy_ == 0); });
      if (jobs_.empty()) break;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      ++busy_;
    }
    job();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0 && stopping_) wake_.notify_all();
  }
}

}  // namespace gleaner
