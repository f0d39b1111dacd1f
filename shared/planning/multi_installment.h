// MOS: the root sends one message a node, all of level 1 first, then all of level 2 ...; at every node round
// robin over its children; all nodes end together as far as the formula knows. Pure.
// Source: K. Ko, T. Robertazzi, "Equal Allocation Scheduling for Data Intensive Applications", equations
// 15-19. Two things differ from the print: the order in which level j receives is the digit reversal
// (equations 13 and 14 equal it for j = 2 and are no bijection beyond), and Y_j, which is not given, is
//   Y_0 = [Tcm sum_n P_1(n) z'_{n,1} + P_1(last)(w'_last Tcp + z'_last Tsol)] / (w_00 Tcp)
//   Y_j = [(z'_{0,j} + z'_{0,j+1}) Tcm + Tcm sum_{n>0} P_{j+1}(n) z'_{n,j+1}
//          + P_{j+1}(last)(w'_last Tcp + (z'_last + z'_parent(last)) Tsol)]
//         / [w'_{0,j} Tcp - Tcm sum_{n>0} P_j(n) z'_{n,j}]
// with P_j(n) = prod_{m<n} 1/X_{m,j}: the last node of level j+1 has its result two hops up exactly when the
// first node of level j stops computing. It reproduces all 16 published values. For trees that are not
// complete and homogeneous it is our generalisation: quote the replay there, never the formula.
#pragma once

#include <vector>

#include "shared/planning/load_tree.h"

namespace gleaner::planning {

struct InstallmentPlan {
  double formula = 0;                  // equation 19 over all levels, also where that is no schedule
  std::vector<double> formula_shares;  // its shares in pre-order; some negative where it is no schedule
  bool feasible = true;                // every Y_j is positive
  std::size_t usable_levels = 0;       // below the root: the deepest that the formula gives load to
  double finish = 0;                   // equation 19 over the usable levels
  std::vector<double> shares;          // pre-order, of the usable levels; 0 below them
  std::vector<std::size_t> order;      // of distribution: node 0 first, all nodes
  std::vector<double> y;               // Y_0 ...
};
// REQUIRES: check_load() accepts tree and cost.
[[nodiscard]] InstallmentPlan plan_installments(const LoadTree& tree, const LoadCost& cost);

// The nodes of each level in the order of distribution.
[[nodiscard]] std::vector<std::vector<std::size_t>> distribution_order(const LoadTree& tree);

}  // namespace gleaner::planning
