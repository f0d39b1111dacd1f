#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using protocol::FailureKind;

TEST_CASE(
    "A kernel that misbehaves is reported with the right kind, after its finished items were delivered") {
  struct Case {
    const char* name;
    const char* extra;
    FailureKind kind;
  };
  const auto bad = GENERATE(
      Case{"crashes", "[ $i -ge 3 ] && kill -SEGV $$", FailureKind::kernel_crashed},
      Case{"exits early", "[ $i -ge 3 ] && exit 0", FailureKind::kernel_crashed},
      Case{"gives up", "[ $i -ge 3 ] && echo 'error no more' && sleep 5", FailureKind::kernel_error},
      Case{"writes garbage", "[ $i -ge 3 ] && echo 'hello world' && sleep 5", FailureKind::bad_output},
      Case{"skips items", "[ $i -eq 3 ] && i=4", FailureKind::bad_output},
      Case{"says done early", "[ $i -ge 3 ] && echo 'done 3' && sleep 5", FailureKind::bad_output},
      Case{"writes too much", "[ $i -ge 3 ] && echo \"item $i 99999999\" && sleep 5",
           FailureKind::bad_output});
  INFO(bad.name);
  World world;
  world.server.set_application(script_kernel(bad.extra));
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(
      world.run_until([&] { return world.server.failures.size() == 1 && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures[0].unit == UnitId{1});
  CHECK(world.server.failures[0].kind == bad.kind);
  CHECK(world.server.failures[0].item == 3);
  CHECK_FALSE(world.server.failures[0].message.empty());
  CHECK(world.has_all({0, 3}));
  CHECK(world.server.items.size() == 3);
}

TEST_CASE("Repeated failures are backed off locally") {
  World world;
  world.server.set_application(script_kernel("exit 1"));
  for (int i = 0; i < 1000; ++i) world.server.queue_unit({i, i + 1});
  world.start();
  REQUIRE(world.run_until([&] { return world.server.failures.size() >= 4; }, 50ms));
  const std::size_t before = world.server.failures.size();
  world.run_for(60s, 50ms);
  CHECK(world.server.failures.size() <= before + 20);  // the mean wait is half of 8, 16, 32 ... s by now
}

TEST_CASE("A kernel that sleeps is taken for hung; one that takes too much is stopped") {
  World world;
  world.server.set_application(script_kernel("[ $i -ge 2 ] && sleep 60"), "disk_megabytes = 1");
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished == 2; }));
  world.patience = 1ms;
  SECTION("hung") {
    world.machine.asleep = true;
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 500ms));
    CHECK(world.server.failures[0].kind == FailureKind::kernel_hung);
  }
  SECTION("disk") {
    world.machine.slot_usage = {std::int64_t{2} << 20, 3};
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
    CHECK(world.server.failures[0].kind == FailureKind::resource_limit);
  }
  SECTION("too many files") {
    world.machine.slot_usage = {0, 10'000};
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
    CHECK(world.server.failures[0].kind == FailureKind::resource_limit);
  }
  SECTION("a process of it ended for want of memory") {
    world.launcher.memory_gone = true;
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
    CHECK(world.server.failures[0].kind == FailureKind::resource_limit);
    CHECK(world.server.failures[0].message.find("of memory") != std::string::npos);
  }
  CHECK(world.gate.groups.empty());
  CHECK(world.has_all({0, 2}));
}

TEST_CASE("An application without a kernel for this machine is reported as not executable") {
  World world;
  world.server.set_application("#!/no/such/interpreter\n");
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 100ms));
  CHECK(world.server.failures[0].kind == FailureKind::not_executable);
}

}  // namespace
}  // namespace gleaner::engine::testing
