#include "client/policy/levels.h"

#include "client/policy/owner.h"
#include "tests/catch.h"

namespace gleaner::client_policy::levels_test {
namespace {
using namespace std::chrono_literals;
using Kind = Observation::Kind;

constexpr SteadyTime start{std::chrono::hours{1000}};

OwnerRules rules_with(const std::vector<std::string>& levels) {
  OwnerRules rules;
  rules.run = RunWhen::idle;
  for (const std::string& text : levels) {
    const auto found = parse_level(text);
    REQUIRE(found);
    rules.levels.of[static_cast<std::size_t>(found->situation)] = found->level;
  }
  return rules;
}

Observation input(Duration idle) {
  return {Kind::input, "seat0", 0s, idle, 0};
}

RunDecision decided(const OwnerVerdict& verdict, int cores = 4) {
  Preferences preferences;
  preferences.cores = cores;
  return decide(preferences, verdict.signals);
}

RunDecision decided(const OwnerRules& rules, const std::vector<Observation>& seen, int minute = 0) {
  return decided(OwnerPolicy().judge({rules, seen, start, {minute}}));
}

TEST_CASE("A level is a situation and its limits") {
  const auto level = parse_level("used 2 cores 25% 60C 1200rpm");
  REQUIRE(level);
  CHECK(level->situation == Situation::used);
  CHECK(level->level.cores == 2);
  CHECK(level->level.cpu_share == 0.25);
  CHECK(level->level.temperature_max == 60);
  CHECK(level->level.fan_rpm_max == 1200);
  CHECK(parse_level("battery off")->level.off);
  CHECK(parse_level("  idle   100% ")->level.cpu_share == 1);
  for (const char* text :
       {"", "used", "used 1", "used core", "used 0 cores", "used 1.5 cores", "used 101%", "used 0%",
        "used nan%", "used 20C", "weekend 1 core", "used off 1 core", "used 1 core loud", "used -1 cores",
        "used %", "used C", "used rpm", "used 99rpm", "used 1200 rpm"})
    CHECK_FALSE(parse_level(text));
}

TEST_CASE("Somebody who is there gets their level at once, and it is over when they are gone") {
  const OwnerRules rules = rules_with({"used 1 core 25%", "idle 3 cores"});
  OwnerPolicy policy;
  const auto at = [&](Duration time, Duration idle) {
    const std::vector<Observation> seen = {input(idle)};
    return decided(policy.judge({rules, seen, start + time, {}}));
  };
  const RunDecision idle = at(0s, 1h);
  CHECK(idle.mode == RunMode::throttle);
  CHECK(idle.cores == 3);
  CHECK(idle.reason == "nobody uses this computer: at most 3 cores");
  const RunDecision used = at(1s, 0s);
  CHECK(used.mode == RunMode::throttle);
  CHECK(used.cores == 1);
  CHECK(used.cpu_share == 0.25);
  CHECK(used.reason == "somebody uses this computer (seat0): at most 1 core, 25 % of it");
  CHECK(at(2s, 5min).reason == "a moment ago somebody was here: at most 1 core, 25 % of it");
  CHECK(at(62s, 6min).cores == 3);
}

TEST_CASE("Without a level for it, a computer that is used or on battery power pauses") {
  const OwnerRules rules = rules_with({"idle 2 cores"});
  CHECK(decided(rules, {input(0s)}).mode == RunMode::pause);
  const std::vector<Observation> battery = {{Kind::battery, "BAT0", 0s, {}, 1}};
  CHECK(decided(rules, battery).mode == RunMode::pause);
  CHECK(decided(rules_with({"battery 10%"}), battery).cpu_share == 0.1);
  CHECK(decided(rules_with({"battery off"}), battery).mode == RunMode::pause);
  OwnerRules allowed = rules_with({"battery off"});
  allowed.on_battery = true;
  CHECK(decided(allowed, battery).mode == RunMode::pause);
}

TEST_CASE("Of the situations that hold, the least of each limit counts") {
  OwnerRules rules = rules_with({"used 2 cores 80%", "night 3 cores 50%", "battery 60%"});
  rules.night_hours = *parse_hours("22-7");
  const std::vector<Observation> seen = {input(0s), {Kind::battery, "BAT0", 0s, {}, 1}};
  const RunDecision night = decided(rules, seen, 23 * 60);
  CHECK(night.cores == 2);
  CHECK(night.cpu_share == 0.5);
  CHECK(
      night.reason ==
      "somebody uses this computer (seat0), it is night, this computer runs on its battery (BAT0): at most 2 "
      "cores, 50 % of each");
  CHECK(decided(rules, seen, 12 * 60).cpu_share == 0.6);
  rules.levels.of[static_cast<std::size_t>(Situation::night)] = parse_level("night off")->level;
  const RunDecision off = decided(rules, {}, 23 * 60);
  CHECK(off.mode == RunMode::pause);
  CHECK(off.reason == "it is night: the preferences say \"off\"");
  CHECK(OwnerPolicy().judge({rules, {}, start, {21 * 60}}).recheck == Duration{1h});
}

TEST_CASE("A level's temperature holds in its situation only") {
  const OwnerRules rules = rules_with({"used 100% 60C"});
  const Observation warm{Kind::temperature, "cpu", 0s, {}, 70};
  CHECK(decided(rules, {input(1h), warm}).mode == RunMode::run);
  const RunDecision used = decided(rules, {input(0s), warm});
  CHECK(used.mode == RunMode::pause);
  CHECK(used.reason == "it is too hot: 70 degrees (cpu); it computes below 55");
}

TEST_CASE(
    "Of a level's fan speed and the preferences' the least holds, and nothing is said where neither is set") {
  OwnerRules rules = rules_with({"used 100% 1200rpm"});
  const std::vector<Observation> used = {input(0s), {Kind::fan, "thinkpad fan 1", 0s, {}, 1300}};
  const std::vector<Observation> idle = {input(1h), used[1]};
  CHECK(minds_fans(rules));
  CHECK(decided(rules, used).reason == "a fan is too fast: 1300 rpm (thinkpad fan 1); it computes below 960");
  CHECK(decided(rules, idle).mode == RunMode::run);
  rules.fan_rpm_max = 1400;
  CHECK(decided(rules, idle).cpu_share == 0.75);
  CHECK(decided(rules, used).mode == RunMode::pause);
  const auto said = [](const OwnerRules& by) {
    const auto details = OwnerPolicy().judge({by, {input(1h)}, start, {}}).details;
    return std::ranges::any_of(details, [](const auto& one) { return one.starts_with("fan speed: "); });
  };
  CHECK(said(rules));
  CHECK_FALSE(said(rules_with({"used 100% 1200rpm"})));  // nobody uses it
  CHECK_FALSE(minds_fans(rules_with({"used 60C"})));
}

TEST_CASE("A level keeps no one from pausing, and is not told where it limits nothing") {
  OwnerRules rules = rules_with({"used 1 core"});
  CHECK(decided(rules, {input(0s), {Kind::watching, "mpv fills the screen", 0s, {}, 0}}).mode ==
        RunMode::pause);
  CHECK(decided(rules, {{Kind::screen, "tty1 (alice)", 0s, {}, 0}}).reason ==
        "somebody is logged in (tty1 (alice)): at most 1 core");
  CHECK(decided(OwnerPolicy().judge({rules, {input(0s)}, start, {}}), 1).mode == RunMode::run);
  rules.run = RunWhen::always;  // with a level for people, they matter
  CHECK(decided(rules, {input(0s)}).cores == 1);
  rules.run = RunWhen::never;
  CHECK(decided(rules, {input(0s)}).mode == RunMode::pause);
}

}  // namespace
}  // namespace gleaner::client_policy::levels_test
