#include "client/policy/heat.h"

#include "client/policy/run_decision.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

constexpr SteadyTime first{std::chrono::hours{1000}};

TEST_CASE("The hottest sensor that is believed counts") {
  Heat heat;
  const auto verdict =
      heat.judge({{"acpitz", 27.8}, {"k10temp", 61}, {"pch", 127.8}, {"none", -273}}, 85, first);
  REQUIRE(verdict.hottest);
  CHECK(verdict.hottest->sensor == "k10temp");
  CHECK_FALSE(verdict.stop);
  CHECK(verdict.share == 1);
  REQUIRE(verdict.set_aside.size() == 2);
  CHECK(verdict.set_aside[0] == "pch says 127.8 degrees, which no processor has: not believed");
  CHECK_FALSE(Heat().judge({}, 85, first).hottest);
  CHECK_FALSE(Heat().judge({{"pch", 127.8}}, 85, first).stop);
}

TEST_CASE("A sensor that stands still at the maximum is set aside, until it moves") {
  Heat heat;
  const auto at = [&](Duration time, double broken, std::optional<double> other) {
    std::vector<Heat::Reading> all = {{"acpitz", broken}};
    if (other) all.push_back({"coretemp", *other});
    return heat.judge(all, 85, first + time);
  };
  SECTION("beside one that is cooler, for ten minutes") {
    CHECK(at(0min, 99, 45).stop);
    CHECK(at(9min, 99, 47).stop);
    const auto verdict = at(10min, 99, 46);
    CHECK_FALSE(verdict.stop);
    CHECK(verdict.hottest->sensor == "coretemp");
    CHECK(verdict.set_aside ==
          std::vector<std::string>{"acpitz says 99.0 degrees without any change: not believed"});
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
    CHECK_FALSE(verdict.hottest);
  }
  SECTION("a cool one may stand still as long as it likes") {
    CHECK(at(0min, 27.8, {}).hottest);
    CHECK(at(600min, 27.8, {}).hottest);
  }
}

TEST_CASE("Before it is too hot kernels get less by steps, and more again when it is well") {
  Heat heat;
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

// A processor that warms with what kernels use: C degrees more for all of it, with a time constant of a
// minute.
TEST_CASE("A computer that would get too hot computes on at what it can bear, and does not swing") {
  const double warmth = GENERATE(40.0, 50.0, 70.0);
  INFO(warmth);
  Heat heat;
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
