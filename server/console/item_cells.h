// Ten million items as a picture of some hundred cells: how much of each is accepted, held and set aside, and
// who holds most of it. Pure; costs are in the ranges and the cells, not in the items.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::console {

struct ItemCells {
  std::int64_t items_per_cell = 1;
  // In percent of the cell's items. Rounded down, but something is never nothing; the three together are
  // at most 100.
  std::vector<int> accepted, held, set_aside;
  std::vector<HostId> holders;  // 0: nobody
};

class ItemCounter {
 public:
  // REQUIRES: items >= 0, cells_max >= 1.
  ItemCounter(std::int64_t items, std::int64_t cells_max);
  // Each item is counted once among these two.
  void accept(Range range);
  void put_aside(Range range);
  // Parts that are accepted already are not to be counted: they are nobody's any more.
  void hold(Range range, HostId host);
  // What was counted, once.
  [[nodiscard]] ItemCells cells() &&;

 private:
  template <typename Each>
  void visit(Range range, Each each) const;
  [[nodiscard]] std::int64_t size_of(std::size_t cell) const;

  std::int64_t items_, per_cell_;
  std::vector<std::int64_t> accepted_, held_, aside_;
  std::vector<HostId> holders_;
  std::vector<std::int64_t> most_;  // how much of the cell that one holds
};

}  // namespace gleaner::console
