#include "client/policy/rate.h"

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

SteadyTime at(double seconds) {
  return SteadyTime{} + from_seconds(seconds);
}

TEST_CASE("Steady items give their exact rate") {
  const double item = GENERATE(0.01, 0.5, 3.0, 20.0);
  INFO("item seconds " << item);
  LastMinuteRate rate;
  double now = 100;
  rate.start_unit(at(now), 2.0);
  for (int i = 0; i < static_cast<int>(200 / item); ++i) {
    now += item;
    rate.finish_item(at(now));
  }
  CHECK(rate.rate(at(now)) == Approx(2.0 / item).epsilon(0.03));
  CHECK(to_seconds(*rate.remaining(at(now), 10)) == Approx(10 * item).epsilon(0.01));
}

TEST_CASE("Items longer than the window do not look like a standstill") {
  LastMinuteRate rate;
  rate.start_unit(at(0), 1);
  rate.finish_item(at(150));
  CHECK(rate.rate(at(150)) == Approx(1.0 / 150).epsilon(0.01));
  CHECK(rate.rate(at(240)) == Approx(1.0 / 150).epsilon(0.05));
  CHECK(rate.rate(at(450)) == Approx(1.0 / 300).epsilon(0.05));  // twice as long by now: half as fast
}

TEST_CASE("The first item counts by progress, or as half done") {
  LastMinuteRate rate;
  rate.start_unit(at(0), 1);
  CHECK(rate.rate(at(10)) == Approx(1.0 / 20));
  rate.progress(at(10), 0.25);
  CHECK(rate.rate(at(10)) == Approx(1.0 / 40));
  CHECK(to_seconds(*rate.remaining(at(10), 1)) == Approx(30));
}

TEST_CASE("An item that was begun elsewhere is as fast as what is done of it here") {
  LastMinuteRate rate;
  rate.start_unit(at(0), 10, LastMinuteRate::First::begun);
  rate.progress(at(1), 0.8);
  rate.progress(at(11), 0.85);
  CHECK(rate.fraction_done(at(11)) == Approx(0.85));
  CHECK(rate.rate(at(11)) == Approx(10 * 0.05 / 10));
  CHECK(to_seconds(*rate.remaining(at(11), 1)) == Approx(30));
  CHECK(to_seconds(*rate.remaining(at(21), 1)) == Approx(20));
  rate.finish_item(at(41));
  CHECK(rate.rate(at(41)) == Approx(10 * 0.2 / 41).epsilon(0.02));
  CHECK(rate.fraction_done(at(42)) == 0);
}

TEST_CASE("What a kernel said long ago of its item says nothing of how far it is now") {
  LastMinuteRate rate;
  rate.start_unit(at(0), 1);
  CHECK(rate.fraction_done(at(5)) == 0);
  rate.progress(at(10), 0.25);
  CHECK(rate.fraction_done(at(10)) == 0.25);
  CHECK(rate.fraction_done(at(20)) == 0.25);
  CHECK(rate.fraction_done(at(21)) == 0);
  rate.progress(at(30), 7);
  CHECK(rate.fraction_done(at(30)) == 1);
}

TEST_CASE("A pause lowers the rate and a long one makes it zero") {
  LastMinuteRate rate;
  rate.start_unit(at(0), 1);
  for (int i = 1; i <= 60; ++i) rate.finish_item(at(i));
  CHECK(rate.rate(at(60)) == Approx(1).epsilon(0.02));
  rate.pause(at(60));
  CHECK(rate.rate(at(90)) == Approx(0.5).epsilon(0.03));
  CHECK(rate.rate(at(121)) == Approx(0).margin(1e-9));
  CHECK(rate.on_item(at(121)) == Duration{0});
  CHECK(rate.on_unit(at(121)) == Duration{121s});  // pauses included
  rate.resume(at(200));
  CHECK(to_seconds(rate.on_item(at(203))) == Approx(3));
}

TEST_CASE("Nothing done is an unknown rest") {
  LastMinuteRate rate;
  CHECK(rate.rate(at(5)) == 0);
  rate.start_unit(at(0), 1);
  CHECK_FALSE(rate.remaining(at(5), 3).has_value());
  CHECK(rate.remaining(at(5), 0) == Duration{0});
}

TEST_CASE("Over random lives the rate is finite, non-negative and sums up to what was done") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6);
  INFO("seed " << seed);
  Random random(seed);
  LastMinuteRate rate;
  double now = 0;
  double done = 0;
  rate.start_unit(at(now), 1);
  for (int i = 0; i < 3000 && now < 55; ++i) {
    now += random.uniform() * 0.05;
    switch (random.below(6)) {
      case 0:
        rate.pause(at(now));
        break;
      case 1:
        rate.resume(at(now));
        break;
      case 2:
        rate.end_unit(at(now));
        rate.start_unit(at(now), 1);
        break;
      case 3:
        rate.progress(at(now), random.uniform());
        break;
      default:
        rate.finish_item(at(now));
        done += 1;
    }
    CHECK(rate.rate(at(now)) >= 0);
    CHECK(rate.rate(at(now)) * now <=
          done + 1.01);  // within the window everything counts, plus the item in progress
    CHECK(rate.rate(at(now)) * now >= done - 0.01);
  }
  CHECK(done > 100);
}

}  // namespace
}  // namespace gleaner::client_policy
