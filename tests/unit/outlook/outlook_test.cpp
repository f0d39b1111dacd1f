#include "server/policy/outlook/outlook.h"

#include <cmath>
#include <vector>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

Timestamp at(double seconds) {
  return from_microseconds(0) + from_seconds(seconds);
}

// A problem computed by hosts that come and go, each delivering every ten seconds what it computed. Items
// cost up to `harder` times what their hints say, the same from the middle on.
struct Run {
  struct Look {
    double at = 0;
    Forecast said;
  };
  std::vector<Look> looks;  // at each hundredth of the work
  double end = 0;
};

Run compute(std::uint64_t seed, int hosts, double cost, double away_share, double harder) {
  Random random(seed);
  std::vector<double> speeds;
  for (int i = 0; i < hosts; ++i) speeds.push_back(0.5 + random.uniform());
  Pace pace;
  Run run;
  double done = 0, now = 0;
  std::vector<bool> away(speeds.size(), false);
  std::size_t marks = 0;
  while (done < cost && now < 1e7) {
    now += 10;
    double fleet = 0;
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      // Away for about five minutes at a time.
      if (away[i] ? random.uniform() < 10.0 / 300
                  : random.uniform() < 10.0 / 300 * away_share / (1 - away_share))
        away[i] = !away[i];
      if (away[i]) continue;
      fleet += speeds[i];
      const double hardness = done > cost / 2 ? harder : 1;
      const double computed = speeds[i] * 10 / hardness;
      done += computed;
      pace.delivered(at(now), computed, 10);
    }
    for (; marks < 100 && done >= cost * static_cast<double>(marks) / 100 && done < cost; ++marks)
      run.looks.push_back({now, forecast(pace, cost - done, fleet, at(now))});
  }
  run.end = now;
  return run;
}

}  // namespace

TEST_CASE("A steady fleet's end is told within a few percent from the beginning on") {
  const Run run = compute(1, 8, 20'000, 0, 1);
  for (const auto& look : run.looks) {
    REQUIRE(look.said.seconds >= 0);
    CHECK(look.at + look.said.seconds == Approx(run.end).epsilon(0.02).margin(20));
    CHECK(look.said.low <= look.said.seconds);
    CHECK(look.said.high >= look.said.seconds);
  }
}

TEST_CASE(
    "Two times of three the end lies within the interval, where hosts come and go and hints are wrong") {
  for (const double away : {0.0, 0.1, 0.4}) {
    int within = 0, all = 0;
    double width = 0;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
      const Run run = compute(seed, 2 + static_cast<int>(seed % 7),
                              500 + 500 * static_cast<double>(seed % 11), away, seed % 3 == 0 ? 1.5 : 1);
      for (const auto& look : run.looks) {
        if (look.said.seconds < 0) continue;  // nobody was there
        ++all;
        const double left = run.end - look.at;
        within += look.said.low <= left + 10 && left - 10 <= look.said.high ? 1 : 0;
        width += std::log(look.said.high / look.said.low) / 2;
      }
    }
    CAPTURE(away, within, all, width / all);
    CHECK(all > 9000);
    CHECK(static_cast<double>(within) / all > 0.6);
    CHECK(width / all < 0.25 + away / 2);  // a steady fleet is told more closely
  }
}

TEST_CASE("A host that comes or goes moves the estimate by less than it moves the fleet") {
  Pace pace;
  for (int i = 1; i <= 60; ++i) pace.delivered(at(10 * i), 40, 10);  // four hint units a second
  const Forecast four = forecast(pace, 4000, 4, at(600));
  const Forecast one = forecast(pace, 4000, 1, at(600));
  CHECK(four.seconds == Approx(1000).epsilon(0.05));
  CHECK(one.seconds < 2.2 * four.seconds);
  CHECK(one.high > 3.9 * four.seconds);  // it may really be so
}

TEST_CASE("Nothing is told while nobody is at work; what is done needs no time") {
  const Pace pace;
  CHECK(forecast(pace, 10, 0, at(0)).seconds < 0);
  CHECK(forecast(pace, 0, 0, at(0)).seconds == 0);
  Pace measured_only;
  measured_only.delivered(at(10), 20, 10);
  CHECK(forecast(measured_only, 100, 0, at(10)).seconds == Approx(50).epsilon(0.1));
  const Forecast measured = forecast(pace, 100, 2, at(0));
  CHECK(measured.seconds == Approx(50));
  CHECK(measured.low == Approx(50 / std::exp(1.1)));
  CHECK(measured.high == Approx(50 * std::exp(1.1)));
}

TEST_CASE("A clock that goes back does no harm") {
  Pace pace;
  pace.delivered(at(1000), 10, 10);
  pace.delivered(at(900), 10, 10);
  const Forecast said = forecast(pace, 100, 1, at(800));
  CHECK(std::isfinite(said.seconds));
  CHECK(said.seconds > 0);
}

TEST_CASE("An end is told within thirty years or not at all, whatever the clock does") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Pace pace;
    Timestamp now = from_microseconds(1'700'000'000'000'000);
    for (int step = 0; step < 60; ++step) {
      const double jump = std::pow(10.0, random.uniform() * 10 - 2) * (random.uniform() < 0.3 ? -1 : 1);
      now += from_seconds(jump);
      if (random.uniform() < 0.6)
        pace.delivered(now, random.uniform() < 0.1 ? 0 : std::pow(10.0, random.uniform() * 12 - 6), 60);
      const double left = std::pow(10.0, random.uniform() * 18 - 3);
      const double fleet = random.uniform() < 0.5 ? 0 : std::pow(10.0, random.uniform() * 12 - 6);
      const Forecast end = forecast(pace, left, fleet, now);
      if (end.seconds < 0) {
        CHECK(end.seconds == -1);
        continue;
      }
      CHECK(end.low >= 0);
      CHECK(end.low <= end.seconds);
      CHECK(end.seconds <= end.high);
      CHECK(end.high <= 1e9);
    }
  }
}

TEST_CASE("What is done only grows over the stages, and is one at the end") {
  // Three stages; the manager says what is ahead of each, in hint units of that stage.
  const double cost[] = {100, 50, 10}, ahead[] = {200, 25, 0};
  double before = 0, last = 0;
  for (int stage = 0; stage < 3; ++stage) {
    for (int i = 0; i <= 10; ++i) {
      const double done = done_of(before, cost[stage] * i / 10, cost[stage], ahead[stage]);
      CHECK(done >= last);
      last = done;
    }
    if (stage == 2) break;
    before = done_after(before, cost[stage], ahead[stage], stage);
    CHECK(before >= last - 1e-12);
    if (stage == 0) CHECK(before == Approx(1.0 / 3));
  }
  CHECK(last == Approx(1));
}

TEST_CASE("Of a manager that does not say what is ahead, stages count alike") {
  CHECK(done_of(0, 5, 10, 0) == Approx(0.5));
  CHECK(done_after(0, 10, 0, 0) == Approx(0.5));
  CHECK(done_after(0.5, 10, 0, 1) == Approx(2.0 / 3));
  CHECK(done_of(0.5, 0, 0, 0) == Approx(0.5));
}

TEST_CASE("What is wasted is measured as what is done is, over all stages") {
  // A half of each stage's work again, for nothing.
  const double cost[] = {100, 50, 10};
  for (const bool told : {true, false}) {
    const double ahead[] = {told ? 200.0 : 0, told ? 25.0 : 0, 0};
    double before = 0, wasted = 0;
    for (int stage = 0; stage < 3; ++stage) {
      const double here = waste_of(before, cost[stage] / 2, cost[stage], ahead[stage]);
      const double full = done_of(before, cost[stage], cost[stage], ahead[stage]);
      CHECK((wasted + here) / (wasted + here + full) == Approx(1.0 / 3));
      before = done_after(before, cost[stage], ahead[stage], stage);
      wasted = waste_after(wasted, here, full, before);
    }
  }
  // Of three stages alike, of which nobody said that they come, the first wasted as much as it did.
  double wasted = waste_after(0, waste_of(0, 10, 10, 0), 1, done_after(0, 10, 0, 0));
  wasted = waste_after(wasted, 0, 1, done_after(0.5, 10, 0, 1));
  CHECK(wasted == Approx(1.0 / 3));
  CHECK(waste_of(0.5, 0, 0, 0) == 0);
}
