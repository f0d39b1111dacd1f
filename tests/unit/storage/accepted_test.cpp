// What is accepted from where, against a model that remembers a segment for each item; and the search for
// segments over a range against a look at all of them.
#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::int64_t items = 300;

// Ranges are where the store must agree; how they are cut into rows is its own affair.
std::vector<std::int64_t> segment_of_items(const std::vector<AcceptedRow>& rows) {
  std::vector<std::int64_t> result(items, 0);
  std::int64_t end_before = 0;
  for (const auto& row : rows) {
    REQUIRE(!row.range.empty());
    REQUIRE(row.range.begin >= end_before);  // in order, and never two for an item
    end_before = row.range.end;
    for (auto item = row.range.begin; item < row.range.end; ++item)
      result.at(static_cast<std::size_t>(item)) = row.segment.value;
  }
  return result;
}

Range random_range(Random& random, std::int64_t end) {
  const auto begin = random.between(0, end - 1);
  const auto longest = random.chance(0.2) ? end - begin : std::min<std::int64_t>(end - begin, 12);
  return {begin, begin + random.between(random.chance(0.05) ? 0 : 1, longest)};
}

}  // namespace

TEST_CASE("accepted ranges are cut and replaced as a model says") {
  ON_EVERY_ENGINE;
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  ProblemId neighbour;
  SegmentId neighbours_segment;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    neighbour = add_problem(*store, grid.application, "neighbour");
    SegmentRow row = simple_segment(grid, {0, items});
    row.problem = neighbour;
    neighbours_segment = must(store->add_segment(row, {}));
    must(store->accept(neighbour, 0, {0, items}, neighbours_segment));
    row.problem = grid.problem;
    row.stage = 1;
    must(store->accept(grid.problem, 1, {0, items}, must(store->add_segment(row, {}))));
  });
  std::vector<std::int64_t> committed(items, 0);
  const int rounds = EngineUnderTest::url(directory.path()).empty() ? 100 : 8;  // a read is a round trip
  for (int round = 0; round < rounds; ++round) {
    auto model = committed;
    must(store->begin());
    for (int step = 0; step < 25; ++step) {
      const Range range = random_range(random, items);
      SegmentId segment{0};
      if (random.chance(0.8)) {
        segment = must(store->add_segment(simple_segment(grid, range), {}));
        // Half of them as the server does where it knows that nothing is accepted.
        if (random.chance(0.5)) {
          must(store->unaccept(grid.problem, 0, range));
          must(store->accept_free(grid.problem, 0, range, segment));
        } else {
          must(store->accept(grid.problem, 0, range, segment));
        }
      } else {
        must(store->unaccept(grid.problem, 0, range));
      }
      std::fill(model.begin() + range.begin, model.begin() + range.end, segment.value);
      REQUIRE(segment_of_items(must(store->accepted(grid.problem, 0))) == model);
    }
    if (random.chance(0.2)) {
      store->rollback();
    } else {
      must(store->commit());
      committed = model;
    }
    REQUIRE(segment_of_items(must(store->accepted(grid.problem, 0))) == committed);
  }
  store.reset();
  store = open_store(directory.path(), OpenCheck::quick_check);
  CHECK(segment_of_items(must(store->accepted(grid.problem, 0))) == committed);
  CHECK(must(store->accepted(grid.problem, 1)).size() == 1);
  const auto untouched = must(store->accepted(neighbour, 0));
  REQUIRE(untouched.size() == 1);
  CHECK(untouched.front().range == Range{0, items});
  CHECK(untouched.front().segment == neighbours_segment);
}

TEST_CASE("the same range accepted twice is accepted once") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  must(store->begin());
  const Grid grid = add_grid(*store);
  const SegmentId segment = must(store->add_segment(simple_segment(grid, {3, 9}), {}));
  must(store->accept(grid.problem, 0, {3, 9}, segment));
  must(store->accept(grid.problem, 0, {3, 9}, segment));
  const auto rows = must(store->accepted(grid.problem, 0));
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().range == Range{3, 9});
  CHECK(store->accept_free(grid.problem, 0, {20, 21}, SegmentId{9}).error().kind == ErrorKind::not_found);
  must(store->unaccept(grid.problem, 0, {0, 1000}));
  CHECK(must(store->accepted(grid.problem, 0)).empty());
  must(store->commit());
}

TEST_CASE("segments over a range are found, of every size") {
  ON_EVERY_ENGINE;
  const std::uint64_t seed = GENERATE(1, 2, 3);
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  must(store->begin());
  const Grid grid = add_grid(*store);
  const std::int64_t end = std::int64_t{1} << random.between(4, 53);
  std::vector<SegmentRow> all;
  const auto any_range = [&] {
    const auto begin = random.between(0, end - 1);
    return Range{begin, begin + std::max<std::int64_t>(1, (end - begin) >> random.below(53))};
  };
  for (int i = 0; i < 400; ++i) {
    all.push_back(simple_segment(grid, any_range()));
    all.back().id = must(store->add_segment(all.back(), {}));
    if (i % 10 == 0) {  // another stage: never found
      SegmentRow other = simple_segment(grid, any_range());
      other.stage = 1;
      (void)must(store->add_segment(other, {}));
    }
  }
  std::int64_t items = 0;
  for (const auto& row : all) items += row.range.size();
  CHECK(must(store->delivered_items(grid.problem, 0)) == items);
  CHECK(must(store->delivered_items(grid.problem, 2)) == 0);
  for (int i = 0; i < 400; ++i) {
    const Range range = i == 0       ? Range{0, end}
                        : i % 2 == 0 ? any_range()
                                     : all[random.below(all.size())].range;
    std::vector<SegmentId> expected, found;
    for (const auto& row : all) {
      if (row.range.overlaps(range)) expected.push_back(row.id);
    }
    for (const auto& row : must(store->segments_over(grid.problem, 0, range))) {
      found.push_back(row.id);
      CHECK(row.range.overlaps(range));
    }
    REQUIRE(found == expected);
  }
  must(store->commit());
}
