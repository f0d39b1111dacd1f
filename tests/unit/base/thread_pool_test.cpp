// The pool: every job that was taken is done, once, and no thread ends before the last of them.
#include "shared/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("jobs are done, each once, and begin in the order they came") {
  ThreadPool pool(1);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) REQUIRE(pool.submit([&order, i] { order.push_back(i); }));
  pool.stop();
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a pool works on several jobs at once") {
  std::promise<void> all;
  const std::shared_future<void> released = all.get_future().share();
  std::atomic<int> waiting{0};
  ThreadPool pool(4);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.submit([&all, &waiting, released] {
      if (++waiting == 4) all.set_value();
      released.wait();
    }));
  }
  pool.stop();
  CHECK(waiting == 4);
}

TEST_CASE("after stop nothing is taken") {
  ThreadPool pool(2);
  pool.stop();
  CHECK(!pool.submit([] {}));
  pool.stop();  // twice does no harm
}

TEST_CASE("no thread ends while a job is done, or the processes that it started would be killed") {
  ThreadPool pool(4);
  std::atomic<int> ended{0};
  struct Ends {
    std::atomic<int>* ended = nullptr;
    ~Ends() {
      if (ended != nullptr) ++*ended;
    }
  };
  std::promise<void> stopping;
  std::atomic<int> begun{0};
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pool.submit([&, i] {
      thread_local Ends ends;
      ends.ended = &ended;
      ++begun;
      while (begun < 4) std::this_thread::yield();  // one job a thread
      if (i > 0) return;
      stopping.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
      CHECK(ended == 0);
    }));
  }
  while (begun < 4) std::this_thread::yield();
  std::thread stopper([&] { pool.stop(); });
  stopping.set_value();
  stopper.join();
  CHECK(ended == 4);
}
