#include "server/policy/outlook/prospect.h"

#include <cmath>
#include <vector>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("What earlier problems took says what the next will take") {
  // A hint unit took 600 Mflop in one, 2,400 in the other; 4 cores of 100 Mflop/s together, half of them its.
  const std::vector<Tried> tried{{10, 6'000, false}, {5, 12'000, false}};
  const Prospect said = prospect(tried, 100, 1, {400, 4, 0.5});
  CHECK(said.tried == 2);
  CHECK(!said.same);
  CHECK(said.core_seconds.seconds == Approx(100 * 1'200 / 100.0));
  CHECK(said.end.seconds == Approx(said.core_seconds.seconds / 2));
  CHECK(said.end.low < said.end.seconds / 2);
  CHECK(said.end.high > said.end.seconds * 2);
}

TEST_CASE("Problems with the same parameters alone tell it, and more closely") {
  const std::vector<Tried> tried{{10, 6'000, false}, {10, 1'000, true}, {0, 5, true}};
  const Prospect said = prospect(tried, 10, 1, {100, 1, 1});
  CHECK(said.same);
  CHECK(said.tried == 1);  // nothing was accepted of the third
  CHECK(said.core_seconds.seconds == Approx(10));
  CHECK(said.core_seconds.high < said.core_seconds.seconds * 1.6);
}

TEST_CASE("It ends no sooner than its longest item") {
  const std::vector<Tried> tried{{1, 100, true}};
  CHECK(prospect(tried, 10, 8, {10'000, 100, 1}).end.seconds == Approx(8));
  CHECK(prospect(tried, 10, 8, {10'000, 100, 1}).core_seconds.seconds == Approx(10));
}

TEST_CASE("Nothing is told where nothing is known, and no end where others go first") {
  CHECK(prospect({}, 10, 1, {100, 1, 1}).core_seconds.seconds < 0);
  const std::vector<Tried> tried{{1, 100, false}};
  CHECK(prospect(tried, 10, 1, {0, 0, 1}).core_seconds.seconds < 0);
  CHECK(prospect(tried, 10, 1, {0, 0, 1}).tried == 1);
  const Prospect behind = prospect(tried, 10, 1, {100, 1, 0});
  CHECK(behind.core_seconds.seconds > 0);
  CHECK(behind.end.seconds < 0);
}

TEST_CASE("About two times of three it lies within the interval, however parameters mislead") {
  Random random(7);
  for (const double deviation : {0.5, 1.1, 1.5}) {
    for (const int count : {1, 2, 4, 8}) {
      int within = 0;
      const int all = 4000;
      for (int i = 0; i < all; ++i) {
        std::vector<Tried> tried;
        for (int n = 0; n < count; ++n)
          tried.push_back({1, 100 * std::exp(random.normal(0, deviation)), false});
        const double truth = std::exp(random.normal(0, deviation));
        const Forecast said = prospect(tried, 1, 1, {100, 1, 1}).core_seconds;
        within += said.low <= truth && truth <= said.high ? 1 : 0;
      }
      CAPTURE(deviation, count, within);
      CHECK(within > all * 0.5);
      CHECK(within < all * (deviation < 1 ? 0.98 : 0.8));  // of those alike it is told too carefully
    }
  }
}
