// WQR-2, work queue with replication: an idle slot gets a copy of a random outstanding unit, two instances of
// each at most [da Silva, Cirne and Brasileiro 2003].
#include <algorithm>

#include "server/policy/stage/straggler.h"
#include "shared/base/random.h"

namespace gleaner::policy {
namespace {

std::vector<UnitId> shuffled(StageState& stage, Timestamp now) {
  std::vector<UnitId> units;
  for (const Outstanding& one : outstanding(stage, now)) units.push_back(one.unit);
  // Seeded by the history so far: a replay shuffles alike.
  Random random(static_cast<std::uint64_t>(stage.units_made));
  for (std::size_t i = units.size(); i > 1; --i) std::swap(units[i - 1], units[random.below(i)]);
  return units;
}

class Wqr final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& stage, const Requester& requester, Timestamp now,
                           Changes& changes) const override {
    Grant grant = copy_planned(stage, requester, shuffled, "drawn at random", now, changes);
    if (!grant.unit) grant.reason = "nothing is free, and every outstanding unit has two instances";
    return grant;
  }
};

}  // namespace

StragglerEntry wqr_straggler() {
  static const Wqr rule;
  return {{Straggler::wqr, "wqr", "copy a random unit, two instances at most",
           "WQR: da Silva, Cirne and Brasileiro 2003"},
          &rule};
}

}  // namespace gleaner::policy
