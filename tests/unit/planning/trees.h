// Random trees of the planning tests. A tree is its seed.
#pragma once

#include "shared/base/random.h"
#include "shared/planning/load_tree.h"

namespace gleaner::planning {

struct TreeBounds {
  std::int64_t nodes_max = 12;
  double w_low = 0.5, w_high = 2, z_low = 0.01, z_high = 0.08;
};

inline double between(Random& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

// Any shape: each node goes under the last one or one of its ancestors.
inline LoadTree random_tree(Random& random, const TreeBounds& bounds) {
  LoadTree tree(between(random, bounds.w_low, bounds.w_high));
  for (auto left = random.between(0, bounds.nodes_max - 1); left > 0; --left) {
    std::size_t parent = tree.size() - 1;
    while (parent != 0 && random.chance(0.45)) parent = tree[parent].parent;
    tree.add(parent, between(random, bounds.w_low, bounds.w_high),
             between(random, bounds.z_low, bounds.z_high));
  }
  return tree;
}

inline LoadCost random_cost(Random& random) {
  LoadCost cost;
  cost.tcp = between(random, 0.5, 2);
  cost.tcm = between(random, 0.5, 2);
  cost.tsol = random.chance(0.2) ? 0 : between(random, 0.05, 1) * cost.tcm;
  cost.duplex = random.chance(0.5) ? Duplex::full : Duplex::half;
  return cost;
}

}  // namespace gleaner::planning
