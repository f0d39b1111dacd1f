// Cost hints of a stage's items as running sums: what a range costs, and which item a given amount of work
// reaches. Without hints every item costs 1. Immutable after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/range_set.h"

namespace gleaner::policy {

class Costs {
 public:
  // REQUIRES: items >= 1; costs empty, or `items` finite numbers > 0.
  Costs(std::int64_t items, const std::vector<double>& costs);

  [[nodiscard]] std::int64_t items() const { return items_; }
  [[nodiscard]] bool hinted() const { return !before_.empty(); }
  [[nodiscard]] double total() const { return before(items_); }
  // The costliest item; and whether some cost more than others.
  [[nodiscard]] double longest() const { return longest_; }
  [[nodiscard]] bool differ() const { return differ_; }
  // Cost of the items before `item`. REQUIRES: 0 <= item <= items().
  [[nodiscard]] double before(std::int64_t item) const {
    return before_.empty() ? static_cast<double>(item) : before_[static_cast<std::size_t>(item)];
  }
  [[nodiscard]] double of(Range range) const {
    return range.empty() ? 0 : before(range.end) - before(range.begin);
  }
  // The item in progress when `work` of all is done, counted from item 0: before(item) <= work. In [0,
  // items()].
  [[nodiscard]] std::int64_t item_at(double work) const;
  // The first item m of `range` such that [m, range.end) costs nearest to `work`. In [range.begin,
  // range.end].
  [[nodiscard]] std::int64_t tail_worth(Range range, double work) const;
  // The end of the head of `range` that costs nearest to `work`. In [range.begin, range.end].
  [[nodiscard]] std::int64_t head_worth(Range range, double work) const;

 private:
  [[nodiscard]] std::int64_t nearest(double work) const;

  std::int64_t items_;
  double longest_ = 1;
  bool differ_ = false;
  std::vector<double> before_;
};

}  // namespace gleaner::policy
