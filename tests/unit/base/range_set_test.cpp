#include "shared/base/range_set.h"

#include <set>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("ranges join, split and report") {
  RangeSet set({0, 10});
  set.remove({3, 5});
  CHECK(set.ranges() == std::vector<Range>{{0, 3}, {5, 10}});
  CHECK(set.total() == 8);
  CHECK(set.missing({0, 12}) == std::vector<Range>{{3, 5}, {10, 12}});
  CHECK(set.within({2, 6}) == std::vector<Range>{{2, 3}, {5, 6}});
  set.add({3, 5});
  CHECK(set.ranges() == std::vector<Range>{{0, 10}});
  set.add({10, 11});
  CHECK(set.count() == 1);
  CHECK(set.contains(Range{0, 11}));
  CHECK_FALSE(set.contains(11));
}

TEST_CASE("a range set agrees with a set of items (seeded)") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5);
  INFO("seed " << seed);
  Random random(seed);
  RangeSet ranges;
  std::set<std::int64_t> items;
  for (int step = 0; step < 2000; ++step) {
    const std::int64_t begin = random.between(0, 60);
    const Range range{begin, begin + random.between(0, 12)};
    const bool adding = random.chance(0.5);
    for (auto i = range.begin; i < range.end; ++i) adding ? (void)items.insert(i) : (void)items.erase(i);
    adding ? ranges.add(range) : ranges.remove(range);
    REQUIRE(ranges.total() == static_cast<std::int64_t>(items.size()));
    const Range probe{random.between(0, 60), random.between(0, 72)};
    std::int64_t inside = 0;
    for (auto i = probe.begin; i < probe.end; ++i) inside += items.count(i);
    REQUIRE(ranges.overlap(probe) == inside);
    REQUIRE(ranges.contains(probe) == (inside == probe.size()));
    REQUIRE(ranges.overlaps(probe) == (inside > 0));
  }
  std::int64_t previous_end = -1;
  for (const Range range : ranges.ranges()) {
    CHECK(range.begin > previous_end);
    previous_end = range.end;
  }
}
