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
      Case{"is killed at each try", "[ $i -ge 3 ] && kill -KILL $$", FailureKind::kernel_crashed},
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

TEST_CASE("A unit whose kernel somebody kills goes on with another one, and nobody is told") {
  World world;
  // It begins with item 0, is killed at 3, and then begins with 3.
  world.server.set_application(script_kernel("[ $i -eq 3 ] && [ $b -ne 3 ] && kill -KILL $$"));
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}) && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures.empty());
  CHECK(world.server.items.size() == 10);
}

TEST_CASE("What this computer lacks to start a kernel is tried again, and then no application's fault") {
  const auto [start, kind] = GENERATE(
      std::pair{"echo 'gleaner-sandbox: cannot join a group' >&2; exit 125", FailureKind::not_executable},
      std::pair{"echo 'bwrap: No space left' >&2; exit 1", FailureKind::not_executable},
      std::pair{"echo 'libx.so: cannot open shared object file' >&2; exit 127", FailureKind::not_executable},
      std::pair{"echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1",
                FailureKind::not_executable},
      std::pair{"exit 3", FailureKind::kernel_crashed},
      std::pair{"read greeting; echo ready 1; exit 127", FailureKind::kernel_crashed});
  World world;
  world.server.set_application(std::string("#!/bin/sh\n") + start + "\n");
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 100ms));
  CHECK(world.server.failures[0].kind == kind);
}

TEST_CASE("Kernels that the system ends when memory is short fail for this computer's reasons") {
  World world;
  world.server.set_application(script_kernel("[ $i -ge 3 ] && sleep 0.2 && kill -KILL $$"));
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until(
      [&] {
        ++world.machine.kills;
        return world.server.failures.size() == 1;
      },
      100ms));
  CHECK(world.server.failures[0].kind == FailureKind::not_executable);
  CHECK(world.server.failures[0].message.find("short of memory") != std::string::npos);
}

TEST_CASE("A kernel that fails where the disk is full fails for this computer's reasons") {
  const char* const failure = GENERATE("exit 1", "echo 'error cannot write' && sleep 5");
  World world;
  world.server.set_application(script_kernel(std::string("[ $i -ge 3 ] && sleep 0.5 && ") + failure));
  world.server.queue_unit({0, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished == 3; }));
  world.files.free = 0;
  REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 100ms));
  CHECK(world.server.failures[0].kind == FailureKind::not_executable);
  CHECK(world.server.failures[0].message.find("disk is full") != std::string::npos);
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
  const auto is_ended_for = [&world](const std::string& words) {
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
    CHECK(world.server.failures[0].kind == FailureKind::resource_limit);
    CHECK(world.server.failures[0].message.find(words) != std::string::npos);
  };
  SECTION("files that have no name any more") {
    world.machine.slot_usage = {std::int64_t{500} << 10, 3};
    world.machine.held.removed_bytes = std::int64_t{600} << 10;
    is_ended_for("of files that it removed");
  }
  SECTION("mapped files that have no name any more") {
    world.machine.held.removed_mappings = true;
    is_ended_for("maps files that it has removed");
  }
  SECTION("directories that nobody can look into") {
    world.machine.slot_usage.hidden = true;
    is_ended_for("cannot be read");
  }
  SECTION("pipes") {
    world.machine.held.pipes = 65;
    is_ended_for("65 pipes");
  }
  SECTION("the processor in a pause") {
    world.gate.words = "used 0.6 s of processor time while it was paused";
    is_ended_for("the kernel used 0.6 s of processor time while it was paused");
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

TEST_CASE("A kernel that talks without end is ended, with a reason") {
  const std::string line = std::string(1000, 'x');
  const auto endless =
      GENERATE_COPY(as<std::string>(), "while :; do echo 'log " + line + "'; done",
                    "while :; do echo '" + line + "' >&2; done",
                    "while :; do echo \"progress $i 0.5" + std::string(1000, '0') + "\"; done");
  World world;
  world.server.set_application(script_kernel("[ $i -ge 3 ] && " + endless));
  world.server.queue_unit({0, 10});
  world.start();
  // It may have been ended before anybody saw its third item.
  REQUIRE(world.run_until(
      [&] { return world.engine->status().slots[0].finished == 3 || world.server.failures.size() == 1; }));
  // It need not say anything that is heard; and what it says must come faster than the clock allows it to.
  world.patience = 1ms;
  REQUIRE(
      world.run_until([&] { return world.server.failures.size() == 1 && world.nothing_in_hand(); }, 10ms));
  CHECK(world.server.failures[0].kind == FailureKind::bad_output);
  CHECK(world.server.failures[0].message.find("does not stop talking") != std::string::npos);
  CHECK(world.has_all({0, 3}));
}

TEST_CASE("What a kernel left behind and cannot be removed is set aside, and work goes on") {
  World world;
  world.server.set_application(script_kernel());
  world.server.queue_unit({0, 10});
  const io::Path slots = world.directory / "slots";
  std::filesystem::create_directories(slots / "0" / "stuck");
  bool stuck = true;
  world.files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
    if (stuck && operation == "remove_all" && path.string().find("slots") != std::string::npos &&
        std::filesystem::exists(path))
      return Error{ErrorKind::io, "cannot remove it"};
    return {};
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}); }));
  const auto aside = [&world] {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(world.directory))
      count += entry.path().filename().string().find("-set-aside-") != std::string::npos ? 1 : 0;
    return count;
  };
  CHECK(aside() >= 1);
  world.kill();
  stuck = false;  // the next start removes it
  world.start();
  CHECK(aside() == 0);
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
