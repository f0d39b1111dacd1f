#include "client/policy/stepped_limit.h"

#include "client/policy/run_decision.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

using Of = SteppedLimit::Of;

constexpr SteadyTime first{std::chrono::hours{1000}};

TEST_CASE("The hottest sensor that is believed counts") {
  SteppedLimit heat(Of::temperature);
  const auto verdict =
      heat.judge({{"acpitz", 27.8}, {"k10temp", 61}, {"pch", 127.8}, {"none", -273}}, 85, first);
  REQUIRE(verdict.highest);
  CHECK(verdict.highest->sensor == "k10temp");
  CHECK_FALSE(verdict.stop);
  CHECK(verdict.share == 1);
  REQUIRE(verdict.details.size() == 2);
  CHECK(verdict.details[0] == "pch says 127.8 degrees, which no processor has: ignored");
  CHECK_FALSE(SteppedLimit(Of::temperature).judge({}, 85, first).highest);
  CHECK_FALSE(SteppedLimit(Of::temperature).judge({{"pch", 127.8}}, 85, first).stop);
}

TEST_CASE("A sensor that stands still at the maximum is set aside, until it moves") {
  SteppedLimit heat(Of::temperature);
  const auto at = [&](Duration time, double broken, std::optional<double> other) {
    std::vector<SteppedLimit::Reading> all = {{"acpitz", broken}};
    if (other) all.push_back({"coretemp", *other});
    return heat.judge(all, 85, first + time);
  };
  SECTION("beside one that is cooler, for ten minutes") {
    CHECK(at(0min, 99, 45).stop);
    CHECK(at(9min, 99, 47).stop);
    const auto verdict = at(10min, 99, 46);
    CHECK_FALSE(verdict.stop);
    CHECK(verdict.highest->sensor == "coretemp");
    CHECK(verdict.details ==
          std::vector<std::string>{"acpitz says 99.0 degrees without any change: ignored"});
    CHECK(at(11min, 98.5, 46).stop);  // it moves after all
  }
  SECTION("beside one that is hot as well it is true") {
    for (int minute = 0; minute < 60; ++minute) CHECK(at(std::chrono::minutes{minute}, 99, 80).stop);
  }
  SECTION("alone, for half an hour") {
    CHECK(at(0min, 99, {}).stop);
    CHECK(at(29min, 99, {}).stop);
    const auto verdict = at(30min, 99, {});
    CHECK_FALSE(verdict.stop);
    CHECK_FALSE(verdict.highest);
  }
  SECTION("a cool one may stand still as long as it likes") {
    CHECK(at(0min, 27.8, {}).highest);
    CHECK(at(600min, 27.8, {}).highest);
  }
}

TEST_CASE("Before it is too hot kernels get less by steps, and more again when it is well") {
  SteppedLimit heat(Of::temperature);
  const auto at = [&](Duration time, double degrees) {
    return heat.judge({{"cpu", degrees}}, 85, first + time);
  };
  CHECK(at(0s, 81.9).share == 1);
  CHECK(at(10s, 82).share == 0.75);
  CHECK(at(20s, 84).share == 0.75);  // it takes a while until that is felt
  CHECK(at(40s, 84).share == 0.5);
  CHECK(at(70s, 84).share == 0.25);
  CHECK(at(200s, 84).share == 0.25);
  CHECK_FALSE(at(200s, 84.9).stop);
  CHECK(at(201s, 85).stop);
  CHECK(at(202s, 81).stop);
  CHECK_FALSE(at(203s, 79).stop);
  CHECK(at(204s, 79).share == 0.25);  // warm still
  CHECK(at(205s, 76).share == 0.5);
  CHECK(at(206s, 76).share == 0.5);
  CHECK(at(265s, 76).share == 0.75);
  CHECK(at(325s, 76).share == 1);
}

TEST_CASE("Why it computes less, and when it computes again, is said with the sensor") {
  SteppedLimit heat(Of::temperature);
  CHECK(heat.judge({{"cpu", 60}}, 85, first).sentence.empty());
  CHECK(heat.judge({{"cpu", 82.4}}, 85, first + 10s).sentence ==
        "it is warm: 82 degrees (cpu): kernels use 75 % of what they may, and stand still at 85");
  CHECK(heat.judge({{"cpu", 91}}, 85, first + 20s).sentence ==
        "it is too hot: 91 degrees (cpu); it computes below 80");
}

TEST_CASE("Fans throttle from a tenth below their limit on, and stop at it until they are a fifth slower") {
  SteppedLimit noise(Of::fans);
  const auto at = [&](Duration time, double rpm) {
    return noise.judge({{"it8728 fan 1", 600}, {"it8728 fan 2", rpm}}, 1500, first + time);
  };
  CHECK(at(0s, 1349).share == 1);
  CHECK(at(10s, 1350).share == 0.75);
  CHECK(at(10s, 1350).sentence ==
        "a fan is fast: 1350 rpm (it8728 fan 2): kernels use 75 % of what they may, and stand still at 1500");
  CHECK(at(40s, 1400).share == 0.5);
  CHECK(at(50s, 1500).stop);
  CHECK(at(60s, 1200).sentence == "a fan is too fast: 1200 rpm (it8728 fan 2); it computes below 1200");
  CHECK_FALSE(at(70s, 1199).stop);
  CHECK(at(100s, 1130).share == 0.5);
  CHECK(at(110s, 1124).share == 0.75);
  CHECK(std::string(noise.name()) == "noise");
}

TEST_CASE("A fan that never turned, that no fan could be, or that stands still at its limit is set aside") {
  SteppedLimit noise(Of::fans);
  const auto at = [&](Duration time, std::vector<SteppedLimit::Reading> all) {
    return noise.judge(all, 1500, first + time);
  };
  const auto none = at(0s, {{"nct6775 fan 1", 0}, {"nct6775 fan 2", 675000}});
  CHECK_FALSE(none.highest);
  CHECK(none.details ==
        std::vector<std::string>{"nct6775 fan 1 says 0 rpm so far: it rests, or nothing is connected",
                                 "nct6775 fan 2 says 675000 rpm, which no fan reaches: ignored",
                                 "fan speed: this computer shows no fan that turns, so the limit on it "
                                 "neither throttles nor pauses"});
  CHECK(at(10s, {{"nct6775 fan 1", 700}}).highest);
  CHECK(at(20s, {{"nct6775 fan 1", 0}}).highest);  // it turned, and rests now
  // Another fan that is as fast keeps none from being set aside.
  for (int minute = 1; minute < 31; ++minute)
    CHECK(at(std::chrono::minutes{minute}, {{"gpu fan 1", 1800}, {"nct6775 fan 1", 1790.0 + minute}}).stop);
  const auto frozen = at(31min, {{"gpu fan 1", 1800}, {"nct6775 fan 1", 900}});
  CHECK_FALSE(frozen.stop);
  CHECK(frozen.details == std::vector<std::string>{"gpu fan 1 says 1800 rpm without any change: ignored"});
  CHECK(at(32min, {{"gpu fan 1", 1810}, {"nct6775 fan 1", 900}}).stop);
}

// A processor that warms with what kernels use: C degrees more for all of it, with a time constant of a
// minute.
TEST_CASE("A computer that would get too hot computes on at what it can bear, and does not swing") {
  const double warmth = GENERATE(40.0, 50.0, 70.0);
  INFO(warmth);
  SteppedLimit heat(Of::temperature);
  double degrees = 40, worked = 0;
  int stops = 0;
  bool stopped = false;
  constexpr int seconds = 2 * 3600;
  for (int second = 0; second < seconds; second += 10) {
    const auto verdict = heat.judge({{"cpu", degrees}}, 85, first + std::chrono::seconds{second});
    const double share = verdict.stop ? 0 : verdict.share;
    degrees += (40 + warmth * share - degrees) * 10 / 60;
    worked += share * 10;
    stops += verdict.stop && !stopped ? 1 : 0;
    stopped = verdict.stop;
  }
  const double bearable = std::min(1.0, (85 - 40) / warmth);
  CHECK(worked / seconds > 0.7 * bearable);
  CHECK(stops <= 3);
}

TEST_CASE("What heat leaves of a core is a part of what the owner allows") {
  Preferences preferences;
  preferences.cpu_share = 0.5;
  const auto decision = decide(preferences, {{"heat", RunMode::throttle, "it is warm", 0.5}});
  CHECK(decision.mode == RunMode::throttle);
  CHECK(decision.cpu_share == 0.25);
  CHECK(decision.reason == "it is warm");
}

}  // namespace
}  // namespace gleaner::client_policy
