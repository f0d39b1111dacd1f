#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using protocol::UnitAction;

struct Running {
  World world;
  Running() {
    world.server.set_application(script_kernel(at_a_pace));
    world.server.queue_unit({0, 100'000});
    world.start();
    REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished >= 5; }));
  }
};

TEST_CASE("A new end is obeyed: nothing at or beyond it is delivered") {
  Running running;
  World& world = running.world;
  const std::int64_t end = world.engine->status().slots[0].finished + 5;
  world.server.orders = {{UnitId{1}, UnitAction::go_on, end, "split"}};
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  CHECK(world.has_all({0, end}));
  CHECK(static_cast<std::int64_t>(world.server.items.size()) == end);
  CHECK(world.server.commits.back().last);
}

TEST_CASE("An end behind what is finished drops the rest at once") {
  Running running;
  World& world = running.world;
  world.server.orders = {{UnitId{1}, UnitAction::go_on, 3, "split"}};
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  CHECK(world.has_all({0, 3}));
  CHECK(world.server.items.size() == 3);
}

TEST_CASE("A later end is ignored: a unit only shrinks") {
  World world;
  world.server.queue_unit({0, 20});
  world.server.orders = {{UnitId{1}, UnitAction::go_on, 500, "?"}};
  world.start();
  REQUIRE(world.run_until([&] { return world.nothing_in_hand() && !world.server.commits.empty(); }));
  CHECK(world.server.items.size() == 20);
}

TEST_CASE("A cancelled unit stops and still delivers what is finished; unknown units in orders are ignored") {
  Running running;
  World& world = running.world;
  world.server.orders = {{UnitId{77}, UnitAction::cancel, 0, "?"},
                         {UnitId{1}, UnitAction::cancel, 0, "not needed"}};
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.items.size() >= 5);
  CHECK(world.has_all({0, static_cast<std::int64_t>(world.server.items.size())}));
  CHECK(world.server.failures.empty());
}

TEST_CASE("A problem paused by the server holds its kernel, and goes on when told") {
  Running running;
  World& world = running.world;
  world.server.orders = {{UnitId{1}, UnitAction::pause, 100'000, "the problem is paused"}};
  REQUIRE(world.run_until([&] { return world.gate.paused.size() == 1; }, 100ms));
  CHECK(world.engine->status().reason.find("the problem is paused") != std::string::npos);
  world.server.orders = {{UnitId{1}, UnitAction::go_on, 100'000, ""}};
  REQUIRE(world.run_until([&] { return world.gate.paused.empty(); }, 100ms));
}

TEST_CASE("Heartbeats report progress, state and rate") {
  Running running;
  World& world = running.world;
  REQUIRE(world.run_until([&] { return world.server.heartbeats.size() >= 2; }, 50ms));
  const auto& report = world.server.heartbeats.back().units.at(0);
  CHECK(report.unit == UnitId{1});
  CHECK(report.finished >= 5);
  CHECK(report.state == protocol::RunState::running);
  CHECK(report.rate > 0);
  CHECK(report.running_seconds > 0);
}

TEST_CASE("Orders that come while a kernel is lost or a unit waits do not upset the engine") {
  World world;
  for (int i = 0; i < 6; ++i) world.server.queue_unit({i * 10, i * 10 + 10});
  world.start();
  Random random(5);
  REQUIRE(world.run_until([&] {
    if (random.chance(0.3))
      world.server.orders.push_back({UnitId{random.between(1, 6)},
                                     static_cast<UnitAction>(random.between(1, 2)), random.between(0, 60),
                                     "fuzz"});
    return world.server.work.size() > 3 && world.nothing_in_hand();
  }));
  for (const auto& [item, bytes] : world.server.items) CHECK(bytes == expected_item(item));
}

}  // namespace
}  // namespace gleaner::engine::testing
