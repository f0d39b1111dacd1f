// What a fleet can do with a divisible load, by each way of sharing it out: finish by replay, closed forms
// where there are any, who is left out and why, and what to be careful about. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "shared/planning/load_tree.h"
#include "shared/planning/replay.h"
#include "shared/planning/single_installment.h"

namespace gleaner::planning {

struct StrategyPlan {
  std::string name;                   // eas, sos, sos_pruned, mos, optimum
  std::string title;                  // for people
  std::optional<double> closed_form;  // of the papers; nothing where there is none
  double finish = 0;                  // by replay: what to believe
  double speedup = 1;                 // the root alone (or, if it does not compute, the fastest node) by that
  std::vector<double> shares;         // pre-order; sum 1; what was replayed
  std::vector<LeftOut> left_out;
  bool feasible = true;  // false: the closed form's own shares are no schedule
  std::vector<std::string> warnings;
  Replay replay;
};

struct FleetPlan {
  StrategyPlan eas, sos, sos_pruned, mos;
  std::optional<StrategyPlan> optimum;  // the linear program; not for very large fleets
  // The one with the earliest finish by replay; of equals the simplest.
  [[nodiscard]] const StrategyPlan& best() const;
  [[nodiscard]] std::vector<const StrategyPlan*> all() const;
};

// Errors as check_load().
[[nodiscard]] Result<FleetPlan> plan_fleet(const LoadTree& tree, const LoadCost& cost);

}  // namespace gleaner::planning
