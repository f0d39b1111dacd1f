// The best shares there are when load is given out as in replay_whole(): every subtree's load as one message,
// children in the given order, results as one message each in the same order. A linear program; with full
// duplex the pruned sequential plan reaches it, with half duplex only this does. Pure.
// Source: the timing equations of Ko and Robertazzi, section II, with "=" as ">=".
#pragma once

#include <vector>

#include "shared/planning/load_tree.h"

namespace gleaner::planning {

struct OptimalPlan {
  double finish = 0;
  std::vector<double> shares;  // pre-order
};
// REQUIRES: check_load() accepts tree and cost. Takes seconds beyond limits::plan_optimum_nodes_max nodes.
[[nodiscard]] Result<OptimalPlan> plan_optimal(const LoadTree& tree, const LoadCost& cost);

}  // namespace gleaner::planning
