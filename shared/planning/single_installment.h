// Plans that send every child the load of its whole subtree at once: equal shares (EAS) and shares by which
// all nodes end together (SOS), with or without the children that only slow the tree down. Pure.
// Source: K. Ko, T. Robertazzi, "Equal Allocation Scheduling for Data Intensive Applications": equations 4-9
// (EAS; the reporting time S_d, which the paper leaves out, is every hop of the last leaf's path carrying the
// result of its whole subtree) and 10-12 (SOS). Cost: linear in the nodes; pruning: quadratic in a node's
// children. REQUIRES everywhere: check_load() accepts tree and cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/planning/load_tree.h"

namespace gleaner::planning {

// 1/N for each node that computes.
[[nodiscard]] std::vector<double> equal_shares(const LoadTree& tree);
// Equation 9 with those terms; nothing where it does not hold: for trees that are not complete and
// homogeneous.
[[nodiscard]] std::optional<double> equal_finish(const LoadTree& tree, const LoadCost& cost);

struct LeftOut {
  std::size_t node = 0;
  std::string reason;
};

struct SequentialPlan {
  double finish = 0;              // closed form, equation 12; exact for full duplex
  std::vector<double> shares;     // pre-order; sum 1
  std::vector<LeftOut> left_out;  // pre-order; whole subtrees
  // Nodes whose first child would report before they have sent all load: with half duplex the closed form is
  // too low for them and the replay tells.
  std::vector<std::size_t> early_reports;
};

// With Prune::greedy, bottom up and at each node: as long as a removal lowers the node's equivalent w, the
// child whose removal lowers it most goes, with its subtree.
enum class Prune { none, greedy };
[[nodiscard]] SequentialPlan plan_sequential(const LoadTree& tree, const LoadCost& cost, Prune prune);

}  // namespace gleaner::planning
