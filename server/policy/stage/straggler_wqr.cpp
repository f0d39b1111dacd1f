// WQR-2, work queue with replication: an idle slot gets a copy of a random outstanding unit, two instances of
// each at most [da Silva, Cirne and Brasileiro 2003].
#include <algorithm>

#include "server/policy/stage/straggler.h"
#include "shared/base/random.h"

namespace gleaner::policy {
namespace {

CopyPlan shuffled(const StageState& stage, Timestamp now) {
  CopyPlan plan;
  for (const Outstanding& one : outstanding(stage, now)) plan.groups.push_back(one.unit);
  // Seeded by the history so far: a replay shuffles alike.
  Random random(static_cast<std::uint64_t>(stage.totals.units));
  for (std::size_t i = plan.groups.size(); i > 1; --i)
    std::swap(plan.groups[i - 1], plan.groups[random.below(i)]);
  return plan;
}

}  // namespace

const StragglerRule& wqr_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::wqr, "wqr", "copy a random unit, two instances at most",
               "WQR: da Silva, Cirne and Brasileiro 2003"},
      .nothing = "nothing is free, and every outstanding unit has two instances",
      .plan = shuffled,
      .why = "drawn at random",
  };
  return rule;
}

}  // namespace gleaner::policy
