// What the owner's presence and owner_settings do to kernels and to the conversation with the server.
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using Kind = client_policy::Observation::Kind;

client_policy::Observation input(Duration idle) {
  return {Kind::input, "X11 display :0", 0s, idle, 0};
}

settings::OwnerSettings when_idle() {
  settings::OwnerSettings owner_settings;
  owner_settings.owner.run = client_policy::RunWhen::idle;
  return owner_settings;
}

struct Desk {
  World world;
  ScriptedActivity activity;
  explicit Desk(int cores = 1) : world(cores) {
    world.activity = &activity;
    world.server.set_application(script_kernel(at_a_pace));
    activity.seen = {input(1h)};
  }
  ~Desk() { world.kill(); }
  void start(const settings::OwnerSettings& owner_settings) {
    world.start();
    world.engine->set_owner_settings(owner_settings);
  }
  [[nodiscard]] std::int64_t finished() const { return world.engine->status().slots[0].finished; }
};

TEST_CASE("Who comes is served first: the kernel stands still within the same tick") {
  Desk desk;
  desk.world.server.queue_unit({0, 300});
  desk.start(when_idle());
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  desk.activity.seen = {input(0s)};
  desk.activity.news = true;
  desk.world.engine->tick();
  CHECK(desk.world.gate.paused.size() == 1);
  CHECK(desk.world.engine->status().reason.find(
            "somebody used this computer 0 seconds ago (X11 display :0)") != std::string::npos);
  desk.activity.seen = {input(10min)};
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.paused.empty(); }, 1s));
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 300}); }));
}

TEST_CASE("The project learns of this computer's processor, memory and temperature, now and then") {
  Desk desk;
  desk.world.server.queue_unit({0, 3000});
  desk.activity.seen.push_back({Kind::temperature, "coretemp", 0s, {}, 58});
  desk.start(when_idle());
  const auto reported = [&]() -> std::optional<protocol::Readings> {
    for (const auto& request : desk.world.server.work)
      if (request.readings) return request.readings;
    return std::nullopt;
  };
  REQUIRE(desk.world.run_until([&] { return reported().has_value(); }));
  CHECK(!reported()->cpu);  // there was nothing to compare with
  CHECK(reported()->memory == 0.5);
  CHECK(reported()->celsius == 58);

  desk.world.machine.time = {30, 200};
  const auto again = [&] {
    for (const auto& beat : desk.world.server.heartbeats)
      if (beat.readings && beat.readings->cpu == 0.3) return true;
    for (const auto& request : desk.world.server.work)
      if (request.readings && request.readings->cpu == 0.3) return true;
    return false;
  };
  REQUIRE(desk.world.run_until(again, 1s));
  std::size_t told = 0;
  for (const auto& beat : desk.world.server.heartbeats) told += beat.readings ? 1 : 0;
  for (const auto& request : desk.world.server.work) told += request.readings ? 1 : 0;
  CHECK(told == 2);  // not with every request
}

TEST_CASE("A level holds the cores that are too many within the same tick, and gives them back") {
  Desk desk(3);
  for (std::int64_t begin = 0; begin < 900; begin += 300) desk.world.server.queue_unit({begin, begin + 300});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.owner.levels.of[static_cast<std::size_t>(client_policy::Situation::used)] =
      client_policy::Level{false, 1, 0.25, {}};
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.groups.size() == 3; }));
  desk.activity.seen = {input(0s)};
  desk.activity.news = true;
  desk.world.engine->tick();
  CHECK(desk.world.gate.paused.size() == 2);
  CHECK(desk.world.gate.share == 0.25);
  const auto status = desk.world.engine->status();
  CHECK(status.mode == "throttle");
  CHECK(status.reason.find("on 1 of 3 cores: somebody uses this computer (X11 display :0): at most 1 core") !=
        std::string::npos);
  desk.activity.seen = {input(10min)};
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.paused.empty(); }, 1s));
  CHECK(desk.world.gate.share == 1);
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 900}); }));
}

TEST_CASE("A kernel that needs more cores than the level leaves waits, and that is the reason given") {
  Desk desk(2);
  desk.world.server.set_application(script_kernel(at_a_pace), "", "threads = 2");
  desk.world.server.queue_unit({0, 100});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.owner.levels.of[static_cast<std::size_t>(client_policy::Situation::used)] =
      client_policy::Level{false, 1, 1, {}};
  desk.start(owner_settings);
  desk.activity.seen = {input(0s)};
  desk.world.run_for(3s);
  CHECK(desk.world.gate.groups.empty());
  CHECK(desk.world.engine->status().reason.find("needs 2 cores at once; somebody uses this computer") !=
        std::string::npos);
  desk.activity.seen = {input(10min)};
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 100}); }));
}

TEST_CASE("A long pause gives the memory back, and what was finished is not computed again") {
  Desk desk;
  desk.world.server.queue_unit({0, 600});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.give_back_after = 10min;
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  desk.activity.seen = {input(0s)};
  desk.world.run_for(9min, 5s);
  CHECK(desk.world.gate.groups.size() == 1);
  desk.world.run_for(2min, 5s);
  CHECK(desk.world.gate.groups.empty());
  const std::int64_t finished = desk.finished();
  CHECK(finished > 3);
  CHECK(desk.world.engine->status().reason.find("somebody used") != std::string::npos);
  desk.activity.seen = {input(10min)};
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 600}); }));
  CHECK(desk.world.launcher.started == 2);
  CHECK(desk.world.server.failures.empty());
}

TEST_CASE("Before a kernel that can save its item ends, it does, and goes on there") {
  Desk desk;
  desk.world.server.set_application(saving_kernel);
  const auto steps = [&] { return desk.world.lines_of("steps"); };
  desk.world.server.queue_unit({0, 1});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.give_back_after = 1s;
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return steps() >= 50; }));
  desk.activity.seen = {input(0s)};
  REQUIRE(desk.world.run_until([&] { return !desk.world.gate.paused.empty(); }));
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.paused.empty(); }));  // to save its item
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.groups.empty(); }));
  const auto units = io::real_files().list(desk.world.project / "units");
  REQUIRE(units.ok());
  const io::Path saved = desk.world.project / "units" / units->front() / "checkpoint-0";
  REQUIRE(std::filesystem::exists(saved));
  const auto before = steps();
  CHECK(before < 100);
  desk.world.start();  // kept over a restart of the client
  desk.world.engine->set_owner_settings(owner_settings);
  desk.activity.seen = {input(10min)};
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 1}); }));
  CHECK(steps() <= 805);  // not eight hundred more
  CHECK_FALSE(std::filesystem::exists(saved));
  CHECK(desk.world.launcher.started == 2);
  CHECK(desk.world.server.failures.empty());
}

TEST_CASE("A kernel that does not save its item in time ends all the same") {
  Desk desk;
  desk.world.server.set_application(R"(#!/bin/sh
echo "ready 1 checkpoint"; echo ok; echo >../../silent; exec sleep 1000
)");
  desk.world.server.queue_unit({0, 1});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.give_back_after = 1s;
  desk.start(owner_settings);
  desk.world.patience = 1ms;
  REQUIRE(desk.world.run_until([&] { return std::filesystem::exists(desk.world.directory / "silent"); }));
  desk.world.engine->tick();  // knows what it offers
  desk.activity.seen = {input(0s)};
  desk.world.run_for(500ms);
  CHECK(desk.world.gate.paused.size() == 1);
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.paused.empty(); }));  // to save its item
  desk.activity.news = true;
  desk.world.engine->tick();
  CHECK(desk.world.gate.paused.size() == 1);  // whoever comes meanwhile goes first
  desk.world.run_for(500ms);
  CHECK(desk.world.gate.groups.size() == 1);
  const SteadyTime before = desk.world.clock.steady();
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.groups.empty(); }));
  CHECK(desk.world.clock.steady() - before >= Slot::save_patience);
  CHECK(desk.world.server.failures.empty());
}

TEST_CASE("Beyond the traffic of a day nothing is fetched, over a restart too, until the next day") {
  Desk desk;
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.traffic.day_bytes = 1'000'000;
  desk.start(owner_settings);
  desk.world.run_for(2s);
  CHECK(desk.world.engine->status().reason.find("traffic") == std::string::npos);
  desk.world.link->add_moved(1'000'000);
  desk.world.run_for(2min, 1s);
  CHECK(desk.world.engine->status().reason.find("today's traffic of 976.6 KiB is used up") !=
        std::string::npos);
  const auto heard = desk.world.server.heartbeats.size();
  desk.world.kill();
  desk.world.link = std::make_shared<transport::LinkMeter>();
  desk.world.server.queue_unit({0, 20});
  desk.start(owner_settings);
  desk.world.run_for(1min, 1s);
  CHECK(desk.world.engine->status().reason.find("today's traffic") != std::string::npos);
  CHECK(desk.world.server.heartbeats.size() == heard);
  desk.world.clock.advance(24h);
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 20}); }));
}

TEST_CASE("The outside signal is asked now and then, and what it says is done and told") {
  struct Outside final : host::OutsideSource {
    Result<std::string> ask(const std::string& where) override {
      CHECK(where == "/signal");
      ++asked;
      return answer;
    }
    Result<std::string> answer = std::string("yes");
    int asked = 0;
  } outside;
  Desk desk;
  desk.world.outside = &outside;
  desk.world.server.queue_unit({0, 300});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.outside_signal = "/signal";
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  CHECK(outside.asked == 1);
  outside.answer = std::string("no power costs 41 ct\n");
  REQUIRE(desk.world.run_until([&] { return !desk.world.gate.paused.empty(); }, 1s));
  CHECK(desk.world.engine->status().reason ==
        "not computing: the outside signal (/signal) says no: power costs 41 ct");
  outside.answer = Error{ErrorKind::unavailable, "it did not answer within 10 s"};
  desk.world.run_for(11min, 1s);
  CHECK(desk.world.engine->status().reason.find("gives no answer: it did not answer within 10 s") !=
        std::string::npos);
  outside.answer = std::string("50%");
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.share == 0.5; }, 1s));
  outside.answer = std::string("yes");
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.share == 1; }, 1s));
  // This computer sleeps for hours, in which the steady clock stands still; then nobody has answered yet.
  const int asked = outside.asked;
  desk.world.workers.stalled = true;
  desk.world.clock.jump_calendar(8h);
  desk.world.run_for(1s);
  CHECK(desk.world.engine->status().reason.starts_with("not computing: the outside signal"));
  desk.world.workers.stalled = false;
  REQUIRE(
      desk.world.run_until([&] { return desk.world.engine->status().reason.starts_with("computing"); }, 1s));
  CHECK(outside.asked > asked);
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 300}); }));
}

TEST_CASE("On a network that costs nothing is sent; what is in hand is computed, and delivered later") {
  Desk desk;
  desk.world.server.queue_unit({0, 20});
  desk.start(when_idle());
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 1; }));
  desk.activity.seen = {input(1h), {Kind::metered, "network", 0s, {}, 1}};
  desk.world.run_for(20s);  // what is under way comes back
  const std::size_t before = desk.world.server.requests.size();
  desk.world.run_for(10min, 1s);
  CHECK(desk.world.server.requests.size() == before);
  const EngineStatus status = desk.world.engine->status();
  CHECK(status.reason.find("the network costs by use") != std::string::npos);
  CHECK(status.units_in_hand == 1);
  CHECK(status.outbox == 1);  // all of it, cut and kept
  desk.activity.seen = {input(1h)};
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 20}); }, 1s));
}

TEST_CASE("Fewer cores hold at once, more again too") {
  Desk desk(2);
  for (int i = 0; i < 4; ++i) desk.world.server.queue_unit({i * 200, i * 200 + 200});
  desk.start(when_idle());
  const auto running = [&] {
    int count = 0;
    for (const SlotStatus& slot : desk.world.engine->status().slots) count += slot.state == "running" ? 1 : 0;
    return count;
  };
  REQUIRE(desk.world.run_until([&] { return running() == 2; }));
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.cores = 1;
  desk.world.engine->set_owner_settings(owner_settings);
  desk.world.engine->tick();
  CHECK(running() == 1);
  desk.world.run_for(3s);
  CHECK(running() == 1);
  owner_settings.cores = 0;
  desk.world.engine->set_owner_settings(owner_settings);
  REQUIRE(desk.world.run_until([&] { return running() == 2; }));
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 800}); }));
}

TEST_CASE("Only the applications that the owner names are asked for, and taken") {
  Desk desk;
  desk.world.server.queue_unit({0, 20});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.applications = {"another"};
  desk.start(owner_settings);
  // Of a server that had not heard of it yet: the unit goes back at once, as nobody's failure.
  REQUIRE(desk.world.run_until([&] { return desk.world.server.work.size() >= 2; }));
  CHECK(desk.world.server.work[0].applications == owner_settings.applications);
  CHECK(desk.world.server.work[1].units.empty());
  CHECK(desk.world.server.failures.empty());
  CHECK(desk.world.launcher.started == 0);
  CHECK(desk.world.nothing_in_hand());
  desk.world.engine->set_owner_settings(when_idle());
  desk.world.server.queue_unit({0, 20});
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 20}); }, 200ms));
  CHECK_FALSE(desk.world.server.work.back().applications);
}

TEST_CASE("An application that is excluded stops at once: its results go out, its unit goes back") {
  Desk desk(2);
  desk.world.server.queue_unit({0, 300});
  settings::OwnerSettings owner_settings = when_idle();
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  const std::int64_t finished = desk.finished();
  owner_settings.applications = {"another", "a third"};
  desk.world.engine->set_owner_settings(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.world.nothing_in_hand(); }, 200ms));
  CHECK(desk.world.has_all({0, finished}));
  CHECK(desk.world.server.items.size() < 300);
  CHECK(desk.world.server.failures.empty());
  CHECK(desk.world.gate.groups.empty());
  REQUIRE(desk.world.run_until([&] { return desk.world.server.work.back().units.empty(); }, 200ms));
  const EngineStatus status = desk.world.engine->status();
  CHECK(status.reason.ends_with("the preference applications permits only another, a third"));
  CHECK(std::count(status.details.begin(), status.details.end(), "applications: only another, a third") == 1);
}

TEST_CASE("A unit of an excluded application goes back also when no work is wanted") {
  Desk desk;
  desk.world.server.queue_unit({0, 300});
  settings::OwnerSettings owner_settings = when_idle();
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  REQUIRE(desk.world.engine->finish().ok());
  const std::size_t before = desk.world.server.work.size();
  owner_settings.applications = {"another"};
  desk.world.engine->set_owner_settings(owner_settings);
  const auto told = [&] {
    const auto& work = desk.world.server.work;
    return std::any_of(work.begin() + static_cast<std::ptrdiff_t>(before), work.end(),
                       [](const auto& request) { return request.units.empty() && request.commits.empty(); });
  };
  REQUIRE(desk.world.run_until(told, 200ms));
  CHECK(desk.world.nothing_in_hand());
}

TEST_CASE("A computer that was told to finish says so while it computes, and when it is done") {
  Desk desk;
  desk.world.server.queue_unit({0, 60});
  desk.world.server.queue_unit({60, 120});
  desk.start(when_idle());
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  REQUIRE(desk.world.engine->finish().ok());
  desk.world.engine->tick();
  const auto reason = [&] { return desk.world.engine->status().reason; };
  CHECK(reason().starts_with("computing "));
  CHECK(reason().ends_with("; you asked to finish: no new work is fetched until `gleaner resume`"));
  REQUIRE(desk.world.run_until([&] { return desk.world.nothing_in_hand(); }, 200ms));
  CHECK(reason() == "not computing: you asked to finish: `gleaner resume` takes work again");
}

TEST_CASE("With one core permitted of two, no unit is fetched for the other") {
  Desk desk(2);
  for (std::int64_t begin = 0; begin < 900; begin += 300) desk.world.server.queue_unit({begin, begin + 300});
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.cores = 1;
  desk.start(owner_settings);
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  for (const auto& request : desk.world.server.work)
    for (const protocol::SlotRequest& slot : request.slots) CHECK(slot.slot == 0);
}

TEST_CASE("Before sleep everything stops and is made safe; afterwards it says how long that was") {
  Desk desk;
  desk.world.server.queue_unit({0, 300});
  desk.start(when_idle());
  REQUIRE(desk.world.run_until([&] { return desk.finished() > 3; }));
  int synced = 0;
  desk.world.files.before_change = [&](std::string_view operation, const io::Path&) -> Status {
    synced += operation == "sync" ? 1 : 0;
    return {};
  };
  desk.activity.seen = {input(1h), {Kind::sleep, "this computer is about to sleep", 0s, {}, 0, "by logind"}};
  desk.activity.news = true;
  desk.world.engine->tick();
  CHECK(desk.world.gate.paused.size() == 1);
  CHECK(synced >= 1);
  CHECK(desk.world.engine->wait_time() <= client_policy::OwnerPolicy::sleep_look);
  EngineStatus status = desk.world.engine->status();
  CHECK(status.reason == "not computing: this computer is about to sleep");
  CHECK(std::find(status.details.begin(), status.details.end(),
                  "this computer is about to sleep (by logind)") != status.details.end());
  const int before = synced;
  desk.world.engine->tick();
  CHECK(synced == before);             // once for each sleep
  desk.world.clock.jump_calendar(2h);  // the steady clock stands still meanwhile
  desk.world.server.now = desk.world.clock.now();
  desk.activity.seen = {input(3h)};
  desk.world.run_for(1s);
  status = desk.world.engine->status();
  CHECK(std::any_of(status.details.begin(), status.details.end(),
                    [](const std::string& detail) { return detail.starts_with("clock: moved by 2 hours"); }));
  REQUIRE(desk.world.run_until([&] { return desk.world.gate.paused.empty(); }, 1s));
  REQUIRE(desk.world.run_until([&] { return desk.world.has_all({0, 300}); }));
}

TEST_CASE("Programs that want the computer alone are looked for as soon as they are named") {
  Desk desk;
  settings::OwnerSettings owner_settings = when_idle();
  owner_settings.exclusive = {"steam"};
  desk.start(owner_settings);
  CHECK(desk.activity.programs == owner_settings.exclusive);
}

}  // namespace
}  // namespace gleaner::engine::testing
