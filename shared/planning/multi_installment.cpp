#include "shared/planning/multi_installment.h"

#include <algorithm>
#include <cmath>

#include "shared/base/check.h"

namespace gleaner::planning {
namespace {

using Levels = std::vector<std::vector<std::size_t>>;

// P_j(n) of one level, and what the formulas need of it.
struct Level {
  std::vector<double> p;  // relative to its first node
  double sum = 0;
  double sent_after_first = 0;  // sum over n > 0 of P(n) z
};

Level ratios(const LoadTree& tree, const LoadCost& cost, const std::vector<std::size_t>& nodes) {
  Level level;
  double p = 1;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (n > 0) {
      const Node &before = tree[nodes[n - 1]], &node = tree[nodes[n]];
      const double x = (node.w * cost.tcp + node.z * cost.tcm) / (before.w * cost.tcp + before.z * cost.tsol);
      p /= x;
      level.sent_after_first += p * node.z;
    }
    level.p.push_back(p);
    level.sum += p;
  }
  return level;
}

double y_of(const LoadTree& tree, const LoadCost& cost, const Levels& levels, const std::vector<Level>& ratio,
            std::size_t j) {
  const Node &first = tree[levels[j].front()], &next = tree[levels[j + 1].front()];
  const Node& last = tree[levels[j + 1].back()];
  const Level& below = ratio[j + 1];
  const double way_down = j == 0 ? next.z : first.z + next.z;
  const double way_up = j == 0 ? last.z : last.z + tree[last.parent].z;
  const double numerator = way_down * cost.tcm + cost.tcm * below.sent_after_first +
                           below.p.back() * (last.w * cost.tcp + way_up * cost.tsol);
  return numerator / (first.w * cost.tcp - cost.tcm * ratio[j].sent_after_first);
}

// Equation 19 over the first `count` levels below the root.
double share_out(const Levels& levels, const std::vector<Level>& ratio, const std::vector<double>& y,
                 std::size_t count, std::vector<double>& shares) {
  double sum = 1, first = 1;
  for (std::size_t l = 1; l <= count; ++l) {
    first /= y[l - 1];
    sum += ratio[l].sum * first;
  }
  std::fill(shares.begin(), shares.end(), 0);
  first = 1 / sum;
  shares[0] = first;
  for (std::size_t l = 1; l <= count; ++l) {
    first /= y[l - 1];
    for (std::size_t n = 0; n < levels[l].size(); ++n) shares[levels[l][n]] = ratio[l].p[n] * first;
  }
  return sum;
}

}  // namespace

Levels distribution_order(const LoadTree& tree) {
  // The turn of a node in its level: round robin over the children, and for each of these over its own. So
  // nodes are compared by their place in the lowest family first: the reversed digits of the complete tree.
  // Where a family has fewer descendants on that level it drops out of the round.
  std::vector<Levels> below(tree.size());
  for (std::size_t i = tree.size(); i-- > 0;) {
    Levels levels{{i}};
    for (std::size_t depth = 0;; ++depth) {
      std::vector<std::size_t> merged;
      for (std::size_t turn = 0;; ++turn) {
        const std::size_t before = merged.size();
        for (const std::size_t child : tree[i].children) {
          if (depth < below[child].size() && turn < below[child][depth].size())
            merged.push_back(below[child][depth][turn]);
        }
        if (merged.size() == before) break;
      }
      if (merged.empty()) break;
      levels.push_back(std::move(merged));
    }
    for (const std::size_t child : tree[i].children) below[child].clear();
    below[i] = std::move(levels);
  }
  return std::move(below[0]);
}

InstallmentPlan plan_installments(const LoadTree& tree, const LoadCost& cost) {
  const Levels levels = distribution_order(tree);
  std::vector<Level> ratio;
  for (const auto& level : levels) ratio.push_back(ratios(tree, cost, level));
  InstallmentPlan plan;
  for (const auto& level : levels) plan.order.insert(plan.order.end(), level.begin(), level.end());
  for (std::size_t j = 0; j + 1 < levels.size(); ++j) {
    plan.y.push_back(y_of(tree, cost, levels, ratio, j));
    const bool usable = std::isfinite(plan.y.back()) && plan.y.back() > 0;
    plan.feasible = plan.feasible && usable;
    if (plan.feasible) plan.usable_levels = j + 1;
  }
  const double whole = tree[0].w * cost.tcp;
  plan.formula_shares.assign(tree.size(), 0);
  plan.formula = whole / share_out(levels, ratio, plan.y, plan.y.size(), plan.formula_shares);
  plan.shares.assign(tree.size(), 0);
  plan.finish = whole / share_out(levels, ratio, plan.y, plan.usable_levels, plan.shares);
  return plan;
}

}  // namespace gleaner::planning
