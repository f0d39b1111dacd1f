#include "shared/transport/thread_workers.h"

#include <thread>

#include "tests/catch.h"

namespace gleaner::transport {
namespace {
using namespace std::chrono_literals;

struct Unused final : io::HttpClient {
  Result<io::HttpReply> send(const io::HttpRequest&) override { return io::HttpReply{}; }
};

TEST_CASE("Jobs run on queues of their own, in order, and wake the engine") {
  ThreadWorkers workers([] { return std::make_unique<Unused>(); });
  std::vector<int> order;
  std::atomic<bool> go{false};
  workers.submit(Queue::data, [&](JobContext& context) -> Completion {
    while (!go.load() && !context.stopping.load()) std::this_thread::yield();
    return [&] { order.push_back(2); };
  });
  workers.submit(Queue::control, [&](JobContext&) -> Completion { return [&] { order.push_back(0); }; });
  workers.submit(Queue::control, [&](JobContext&) -> Completion { return [&] { order.push_back(1); }; });
  const auto wait_for = [&](std::size_t count) {
    for (int i = 0; i < 500 && order.size() < count; ++i) {
      const io::Waitable ready = workers.waitable();
      (void)io::wait_any({&ready, 1}, 20ms);
      workers.deliver();
    }
    return order.size() >= count;
  };
  REQUIRE(wait_for(2));  // the stuck transfer does not delay the control queue
  CHECK(order == std::vector<int>{0, 1});
  go = true;
  REQUIRE(wait_for(3));
  CHECK(workers.stop(5s));
}

TEST_CASE("When queues have ended, so have their connections") {
  struct Slow final : io::HttpClient {
    explicit Slow(std::atomic<bool>& flag) : gone(flag) {}
    ~Slow() override {
      std::this_thread::sleep_for(50ms);
      gone = true;
    }
    Result<io::HttpReply> send(const io::HttpRequest&) override { return io::HttpReply{}; }
    std::atomic<bool>& gone;
  };
  std::atomic<bool> gone{false};
  ThreadWorkers workers([&] { return std::make_unique<Slow>(gone); });
  workers.submit(Queue::control, [](JobContext&) -> Completion { return {}; });
  CHECK(workers.stop(30s));
  CHECK(gone.load());
}

TEST_CASE("Stopping does not wait for ever for a stalled job") {
  auto workers = std::make_unique<ThreadWorkers>([] { return std::make_unique<Unused>(); });
  auto release = std::make_shared<std::atomic<bool>>(false);
  auto begun = std::make_shared<std::atomic<bool>>(false);
  workers->submit(Queue::control, [release, begun](JobContext&) -> Completion {
    begun->store(true);
    while (!release->load()) std::this_thread::yield();
    return {};
  });
  while (!begun->load()) std::this_thread::yield();
  CHECK_FALSE(workers->stop(10ms));
  release->store(true);
  CHECK(workers->stop(5s));
}

}  // namespace
}  // namespace gleaner::transport
