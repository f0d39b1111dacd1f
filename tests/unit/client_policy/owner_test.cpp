#include "client/policy/owner.h"

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;
using Kind = Observation::Kind;

constexpr SteadyTime start{std::chrono::hours{1000}};

Observation input(Duration idle, Duration age = 0s) {
  return {Kind::input, "terminal pts/1", age, idle, 0};
}
Observation screen(std::optional<Duration> idle) {
  return {Kind::screen, "seat0 (x11)", 0s, idle, 0};
}
OwnerWishes when_idle() {
  OwnerWishes wishes;
  wishes.run = RunWhen::idle;
  return wishes;
}
OwnerVerdict judge(const OwnerWishes& wishes, const std::vector<Observation>& seen) {
  return OwnerPolicy().judge({wishes, seen, start, 0});
}

TEST_CASE("Nobody logged in is idle; input pauses until it is long enough ago") {
  CHECK(judge(when_idle(), {}).signals.empty());
  CHECK(judge(when_idle(), {input(5min)}).signals.empty());
  const auto verdict = judge(when_idle(), {input(2h), input(40s)});
  REQUIRE(verdict.signals.size() == 1);
  CHECK(verdict.signals[0].allows == RunMode::pause);
  CHECK(verdict.signals[0].sentence ==
        "somebody used this computer 40 seconds ago (terminal pts/1): it computes after 5 minutes without");
  CHECK(verdict.recheck == Duration{260s});
  CHECK(verdict.details.size() == 2);
}

TEST_CASE("What is not known is the cautious side") {
  CHECK(judge(when_idle(), {screen({})}).signals.size() == 1);
  CHECK(judge(when_idle(), {screen(10min)}).signals.empty());
  Observation stale = screen(10min);
  stale.age = 3min;
  CHECK(judge(when_idle(), {stale}).signals.size() == 1);
  OwnerWishes always;
  CHECK(judge(always, {screen({}), input(0s)}).signals.empty());
  OwnerWishes never;
  never.run = RunWhen::never;
  CHECK(judge(never, {}).signals.size() == 1);
}

TEST_CASE("Battery and heat pause, and must be well for a minute") {
  OwnerPolicy policy;
  const OwnerWishes wishes = when_idle();
  const auto at = [&](Duration time, double discharging, double degrees) {
    const std::vector<Observation> seen = {{Kind::battery, "BAT0", 0s, {}, discharging},
                                           {Kind::temperature, "cpu", 0s, {}, degrees}};
    return policy.judge({wishes, seen, start + time, 0}).signals.empty();
  };
  CHECK(at(0s, 0, 50));
  CHECK_FALSE(at(1s, 1, 50));
  CHECK_FALSE(at(2s, 0, 50));
  CHECK_FALSE(at(60s, 0, 50));
  CHECK(at(61s, 0, 50));
  CHECK_FALSE(at(70s, 0, 85));
  CHECK_FALSE(at(200s, 0, 81));  // not cool enough yet
  CHECK_FALSE(at(201s, 0, 79));
  CHECK(at(261s, 0, 79));
}

TEST_CASE("Hours as people write them") {
  const auto minute = [](int day, int hour, int minutes = 0) { return (day * 24 + hour) * 60 + minutes; };
  OwnerWishes wishes;
  const auto computes = [&](const std::string& text, int at) {
    const auto hours = parse_hours(text);
    REQUIRE(hours);
    wishes.hours = *hours;
    return OwnerPolicy().judge({wishes, {}, start, at}).signals.empty();
  };
  CHECK(computes("mon-fri 18:00-08:00", minute(0, 18)));
  CHECK(computes("mon-fri 18:00-08:00", minute(1, 7, 59)));
  CHECK(computes("mon-fri 18:00-08:00", minute(5, 7, 59)));  // Friday's night ends on Saturday
  CHECK_FALSE(computes("mon-fri 18:00-08:00", minute(5, 8)));
  CHECK_FALSE(computes("mon-fri 18:00-08:00", minute(0, 7)));  // Sunday has no night
  CHECK(computes("sat,sun", minute(6, 23, 59)));
  CHECK_FALSE(computes("sat,sun", minute(0, 0)));
  CHECK(computes("sun 22-6", minute(0, 5)));
  CHECK(computes("22:30-6", minute(3, 22, 30)));
  CHECK(computes("fri-mon", minute(6, 1)));
  for (const char* wrong : {"", "monday", "8", "8-25", "8:60-9", "mon 8", "8-9 mon", "mon-fri 8-9 x", "8-8"})
    CHECK_FALSE(parse_hours(wrong));
  wishes.hours = *parse_hours("8-9");
  const auto verdict = OwnerPolicy().judge({wishes, {}, start, minute(0, 7)});
  CHECK(verdict.recheck == Duration{1h});
}

TEST_CASE("Activity always pauses, every answer has a reason, and nothing swings faster than the dwell") {
  const std::uint64_t seed = 20261121;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    OwnerPolicy policy;
    OwnerWishes wishes = when_idle();
    wishes.idle_after = std::chrono::seconds{random.between(60, 900)};
    wishes.on_battery = random.chance(0.3);
    SteadyTime now = start;
    SteadyTime last_input = start - 1h;
    std::optional<SteadyTime> paused;
    bool ran = false;
    for (int step = 0; step < 200; ++step) {
      now += std::chrono::seconds{random.between(1, 90)};
      if (random.chance(0.05)) last_input = now - std::chrono::seconds{random.between(0, 30)};
      std::vector<Observation> seen = {input(std::chrono::duration_cast<Duration>(now - last_input))};
      if (random.chance(0.9)) seen.push_back({Kind::battery, "BAT0", 0s, {}, random.chance(0.1) ? 1.0 : 0.0});
      if (random.chance(0.9)) seen.push_back({Kind::temperature, "cpu", 0s, {}, 60 + 30 * random.uniform()});
      const auto verdict = policy.judge({wishes, seen, now, 0});
      const bool runs = verdict.signals.empty();
      if (now - last_input < wishes.idle_after) CHECK_FALSE(runs);
      for (const Signal& signal : verdict.signals) CHECK_FALSE(signal.sentence.empty());
      if (!runs && (ran || !paused)) paused = now;
      if (runs && !ran && paused) CHECK((now - *paused >= OwnerPolicy::dwell || step == 0));
      ran = runs;
    }
  }
}

}  // namespace
}  // namespace gleaner::client_policy
