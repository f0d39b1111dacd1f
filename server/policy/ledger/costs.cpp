#include "server/policy/ledger/costs.h"

#include <algorithm>
#include <cmath>

#include "shared/base/check.h"

namespace gleaner::policy {

Costs::Costs(std::int64_t items, const std::vector<double>& costs) : items_(items) {
  CHECK_TRUE(items >= 1);
  if (costs.empty()) return;
  CHECK_TRUE(static_cast<std::int64_t>(costs.size()) == items);
  before_.reserve(costs.size() + 1);
  before_.push_back(0);
  longest_ = *std::max_element(costs.begin(), costs.end());
  differ_ = *std::min_element(costs.begin(), costs.end()) < longest_;
  for (const double cost : costs) {
    CHECK_TRUE(std::isfinite(cost) && cost > 0);
    before_.push_back(before_.back() + cost);
  }
}

std::int64_t Costs::item_at(double work) const {
  if (!(work > 0)) return 0;
  if (work >= total()) return items_;
  if (before_.empty()) return static_cast<std::int64_t>(work);
  return std::upper_bound(before_.begin(), before_.end(), work) - before_.begin() - 1;
}

std::int64_t Costs::nearest(double work) const {
  const std::int64_t item = item_at(work);
  if (item >= items_) return items_;
  return work - before(item) <= before(item + 1) - work ? item : item + 1;
}

std::int64_t Costs::tail_worth(Range range, double work) const {
  return std::clamp(nearest(before(range.end) - work), range.begin, range.end);
}

std::int64_t Costs::head_worth(Range range, double work) const {
  return std::clamp(nearest(before(range.begin) + work), range.begin, range.end);
}

}  // namespace gleaner::policy
