// Curves of any length in a bounded number of samples.
#include "server/console/series.h"

#include "tests/catch.h"

TEST_CASE("a series keeps its first sample and its even spacing, however long it becomes") {
  gleaner::console::Series<int> series(8);
  for (int i = 0; i < 1000; ++i) {
    series.offer(i);
    const auto& samples = series.samples();
    REQUIRE(samples.size() < 8);
    REQUIRE(samples.front() == 0);
    const int step = samples.size() > 1 ? samples[1] : 1;
    for (std::size_t j = 0; j < samples.size(); ++j) REQUIRE(samples[j] == static_cast<int>(j) * step);
    REQUIRE(i - samples.back() < step);
  }
}
