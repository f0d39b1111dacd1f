// The map of items: what is in each cell, in percent, and who holds most of it.
#include "server/console/item_cells.h"

#include "tests/catch.h"

using namespace gleaner;
using console::ItemCounter;
using Numbers = std::vector<int>;

TEST_CASE("few items have a cell each") {
  ItemCounter counter(5, 10);
  counter.accept({0, 2});
  counter.hold({2, 4}, HostId{7});
  counter.put_aside({4, 5});
  const auto cells = std::move(counter).cells();
  CHECK(cells.items_per_cell == 1);
  CHECK(cells.accepted == Numbers{100, 100, 0, 0, 0});
  CHECK(cells.held == Numbers{0, 0, 100, 100, 0});
  CHECK(cells.set_aside == Numbers{0, 0, 0, 0, 100});
  CHECK(cells.holders == std::vector<HostId>{{}, {}, HostId{7}, HostId{7}, {}});
}

TEST_CASE("many items share cells; the last one may be smaller") {
  ItemCounter counter(25, 3);  // 9, 9 and 7 items
  counter.accept({0, 12});
  counter.hold({12, 14}, HostId{1});
  counter.hold({14, 17}, HostId{2});
  counter.hold({24, 25}, HostId{3});
  const auto cells = std::move(counter).cells();
  CHECK(cells.items_per_cell == 9);
  CHECK(cells.accepted == Numbers{100, 33, 0});
  CHECK(cells.held == Numbers{0, 55, 14});
  CHECK(cells.holders == std::vector<HostId>{{}, HostId{2}, HostId{3}});
}

TEST_CASE("one item of ten million is seen, and copies make no more than a whole") {
  ItemCounter counter(10'000'000, 2000);
  counter.accept({4999, 5000});
  counter.hold({5000, 10'000}, HostId{1});
  counter.hold({5000, 10'000}, HostId{2});
  counter.put_aside({10'000, 10'001});
  const auto cells = std::move(counter).cells();
  REQUIRE(cells.accepted.size() == 2000);
  CHECK(cells.accepted[0] == 1);
  CHECK(cells.held[1] == 100);
  CHECK(cells.set_aside[2] == 1);
}

TEST_CASE("a stage without items has no cells, and what is out of range is not counted") {
  CHECK(ItemCounter(0, 10).cells().accepted.empty());
  ItemCounter counter(3, 10);
  counter.accept({2, 9});
  CHECK(std::move(counter).cells().accepted == Numbers{0, 0, 100});
}
