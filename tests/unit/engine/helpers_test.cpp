#include <poll.h>

#include <thread>

#include "client/benchmark/benchmark.h"
#include "client/state/controls.h"
#include "client/transport/link_meter.h"
#include "client/transport/thread_workers.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

TEST_CASE("The benchmark solves its systems and measures something") {
  const auto result = benchmark::run_linpack(200, 3);
  REQUIRE(result.ok());
  CHECK(result->mflops > 1);
  CHECK(result->residual < 16);
}

TEST_CASE("All cores at once and memory are measured, too") {
  const auto together = benchmark::run_linpack_on_all(2, 200, 2);
  REQUIRE(together.ok());
  CHECK(*together > 1);
  CHECK(benchmark::run_triad(1 << 16) > 1e6);
}

TEST_CASE("A link is as fast as the median of the transfers that were large enough to tell") {
  transport::LinkMeter meter;
  CHECK(meter.download() == 0);
  meter.downloaded(transport::LinkMeter::telling_bytes - 1, 1s);
  meter.downloaded(1 << 20, 0s);
  CHECK(meter.download() == 0);
  for (const int seconds : {1, 2, 64}) meter.downloaded(1 << 20, std::chrono::seconds{seconds});
  CHECK(meter.download() == (1 << 20) / 2.0);
  CHECK(meter.upload() == 0);
  for (std::size_t i = 0; i < transport::LinkMeter::kept; ++i) meter.downloaded(4 << 20, 1s);
  CHECK(meter.download() == 4 << 20);  // what was long ago does not count
}

TEST_CASE("What goes through a metered client counts for the way that moved more") {
  const auto meter = std::make_shared<transport::LinkMeter>();
  struct Fixed final : io::HttpClient {
    Result<io::HttpReply> send(const io::HttpRequest& request) override {
      if (request.method == "GET") return io::HttpReply{200, {}, Bytes(1 << 20, 'x'), 2s};
      if (request.method == "PUT") return io::HttpReply{200, {}, Bytes(10, 'x'), 4s};
      return Error{ErrorKind::unavailable, "away"};
    }
  };
  const auto client = transport::metered(std::make_unique<Fixed>(), meter);
  io::HttpRequest request;
  CHECK(client->send(request).ok());
  request.method = "PUT";
  request.body = Bytes(1 << 20, 'y');
  CHECK(client->send(request).ok());
  request.method = "POST";
  CHECK_FALSE(client->send(request).ok());
  CHECK(meter->download() == (1 << 20) / 2.0);
  CHECK(meter->upload() == (1 << 20) / 4.0);
}

TEST_CASE("Jobs run on queues of their own, in order, and wake the engine") {
  FakeServer server;
  transport::ThreadWorkers workers([&] { return std::make_unique<FakeServerClient>(server); });
  std::vector<int> order;
  std::atomic<bool> go{false};
  workers.submit(transport::Queue::data, [&](transport::JobContext& context) -> transport::Completion {
    while (!go.load() && !context.stopping.load()) std::this_thread::yield();
    return [&] { order.push_back(2); };
  });
  workers.submit(transport::Queue::control, [&](transport::JobContext&) -> transport::Completion {
    return [&] { order.push_back(0); };
  });
  workers.submit(transport::Queue::control, [&](transport::JobContext&) -> transport::Completion {
    return [&] { order.push_back(1); };
  });
  const auto wait_for = [&](std::size_t count) {
    for (int i = 0; i < 500 && order.size() < count; ++i) {
      pollfd polled{workers.descriptor(), POLLIN, 0};
      ::poll(&polled, 1, 20);
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
  transport::ThreadWorkers workers([&] { return std::make_unique<Slow>(gone); });
  workers.submit(transport::Queue::control,
                 [](transport::JobContext&) -> transport::Completion { return {}; });
  CHECK(workers.stop(30s));
  CHECK(gone.load());
}

TEST_CASE("Stopping does not wait for ever for a stalled job") {
  FakeServer server;
  auto workers =
      std::make_unique<transport::ThreadWorkers>([&] { return std::make_unique<FakeServerClient>(server); });
  auto release = std::make_shared<std::atomic<bool>>(false);
  auto begun = std::make_shared<std::atomic<bool>>(false);
  workers->submit(transport::Queue::control,
                  [release, begun](transport::JobContext&) -> transport::Completion {
                    begun->store(true);
                    while (!release->load()) std::this_thread::yield();
                    return {};
                  });
  while (!begun->load()) std::this_thread::yield();
  CHECK_FALSE(workers->stop(10ms));
  release->store(true);
  CHECK(workers->stop(5s));
}

TEST_CASE("Controls survive, whatever the calendar does to a pause") {
  World world;
  const io::Path path = world.directory / "preferences";
  state::Controls controls = state::load_controls(world.files, path).value();
  CHECK(controls.enabled);
  CHECK_FALSE(controls.pause_length);
  const Timestamp now = world.clock.now();
  controls.pause_length = Duration{1h};
  controls.pause_begun = now;
  controls.finish = true;
  REQUIRE(state::save_controls(world.files, path, controls).ok());
  const state::Controls again = state::load_controls(world.files, path).value();
  CHECK(again.finish);
  CHECK(again.pause_left(now + 20min) == Duration{40min});
  CHECK_FALSE(again.pause_left(now + 2h).has_value());
  CHECK(again.pause_left(now - std::chrono::hours{10'000}) == Duration{1h});  // never longer than asked for
  controls.pause_length = Duration::max();
  REQUIRE(state::save_controls(world.files, path, controls).ok());
  CHECK(state::load_controls(world.files, path).value().pause_left(now + std::chrono::hours{1000}) ==
        Duration::max());
  REQUIRE(world.files.write(path, "nonsense = [", io::Mode::normal).ok());
  CHECK_FALSE(state::load_controls(world.files, path).ok());
}

}  // namespace
}  // namespace gleaner::engine::testing
