// A few threads for jobs: work that blocks (the server checks and stores results, talks to managers), or that
// several processors share (experiments). Jobs begin in the order they came, each once; what was taken is
// finished before stop() returns. No thread ends before the last job: processes that one of them started
// would be killed with it, though others still talk to them. Jobs must not throw.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gleaner {

class ThreadPool {
 public:
  // Throws std::system_error where the system starts no more threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();  // stop()
  // False once stopping: the job is not taken.
  bool submit(std::function<void()> job);
  // Finishes what was taken, then ends the threads.
  void stop();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  int busy_ = 0;  // threads with a job
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gleaner
