// Percentiles from buckets: exact where times are short, never too small, and bounded.
#include "tools/loadgen/histogram.h"

#include <algorithm>
#include <vector>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using loadgen::Histogram;

TEST_CASE("nothing counted has no percentiles") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.percentile(0.5) == Duration{0});
}

TEST_CASE("short times are exact") {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.add(Duration{i});
  CHECK(histogram.percentile(0.5) == Duration{50});
  CHECK(histogram.percentile(0.95) == Duration{95});
  CHECK(histogram.percentile(0.99) == Duration{99});
  CHECK(histogram.percentile(1) == Duration{100});
}

TEST_CASE("a percentile is never below the true one, and at most 1.6 % above") {
  const std::uint64_t seed = 20261124;
  CAPTURE(seed);
  Random random(seed);
  Histogram histogram;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 10'000; ++i) {
    times.push_back(static_cast<std::int64_t>(random.exponential(250'000)));
    histogram.add(Duration{times.back()});
  }
  std::sort(times.begin(), times.end());
  for (const double share : {0.01, 0.5, 0.95, 0.99, 0.999}) {
    CAPTURE(share);
    const auto exact = times[static_cast<std::size_t>(share * 10'000) - 1];
    const auto told = histogram.percentile(share).count();
    CHECK(told >= exact);
    CHECK(static_cast<double>(told) <= 1.016 * static_cast<double>(exact) + 1);
  }
  CHECK(histogram.longest() == Duration{times.back()});
}

TEST_CASE("times beyond all reason, and before the beginning, are counted at the ends") {
  Histogram histogram;
  histogram.add(std::chrono::hours{1000});
  histogram.add(Duration{-5});
  CHECK(histogram.count() == 2);
  CHECK(histogram.percentile(0.5) == Duration{0});
  CHECK(histogram.percentile(1) >= std::chrono::hours{4});
  histogram.clear();
  CHECK(histogram.count() == 0);
  CHECK(histogram.longest() == Duration{0});
}
