#include "shared/planning/load_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "shared/base/check.h"
#include "shared/base/limits.h"

namespace gleaner::planning {
namespace {

bool is_amount(double value) {
  return std::isfinite(value) && value >= 0 && value <= limits::plan_number_max;
}

bool is_cost(double value) {
  return is_amount(value) && value >= 1 / limits::plan_number_max;
}

}  // namespace

const char* name_of(Duplex duplex) {
  return duplex == Duplex::full ? "full" : "half";
}

LoadTree::LoadTree(double root_w, std::string name) {
  Node root;
  root.name = std::move(name);
  root.w = root_w;
  root.subtree_end = 1;
  nodes_.push_back(std::move(root));
}

LoadTree LoadTree::dispatcher(std::string name) {
  LoadTree tree(limits::plan_number_max, std::move(name));  // so slow that the optimal plans leave it idle
  tree.root_computes_ = false;
  return tree;
}

std::size_t LoadTree::add(std::size_t parent, double w, double z, std::string name) {
  const std::size_t index = nodes_.size();
  CHECK_TRUE(parent < index && nodes_[parent].subtree_end == index);
  Node node;
  node.name = std::move(name);
  node.w = w;
  node.z = z;
  node.parent = parent;
  node.level = nodes_[parent].level + 1;
  node.subtree_end = index + 1;
  depth_ = std::max(depth_, node.level);
  nodes_.push_back(std::move(node));
  nodes_[parent].children.push_back(index);
  for (std::size_t above = parent;; above = nodes_[above].parent) {
    nodes_[above].subtree_end = index + 1;
    if (above == 0) break;
  }
  return index;
}

std::string LoadTree::label(std::size_t index) const {
  const std::string& name = nodes_[index].name;
  if (!name.empty()) return name;
  return index == 0 ? "root" : "node " + std::to_string(index);
}

Status check_load(const LoadTree& tree, const LoadCost& cost) {
  const auto wrong = [](const std::string& what, const std::string& expected) {
    return Error{ErrorKind::invalid, what + " must be " + expected};
  };
  const std::string positive = "a number above 0 (1e-12 to 1e12)", amount = "a number from 0 to 1e12";
  if (!is_cost(cost.tcp)) return wrong("tcp", positive);
  if (!is_amount(cost.tcm)) return wrong("tcm", amount);
  if (!is_amount(cost.tsol)) return wrong("tsol", amount);
  if (tree.size() > static_cast<std::size_t>(limits::plan_nodes_max))
    return Error{ErrorKind::too_large, "the fleet has " + std::to_string(tree.size()) + " nodes; at most " +
                                           std::to_string(limits::plan_nodes_max) + " are planned for"};
  if (tree.depth() > static_cast<std::size_t>(limits::plan_depth_max))
    return Error{ErrorKind::too_large, "the fleet has " + std::to_string(tree.depth()) +
                                           " levels below its root; at most " +
                                           std::to_string(limits::plan_depth_max) + " are planned for"};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (!is_cost(tree[i].w)) return wrong("w of " + tree.label(i), positive);
    if (i > 0 && !is_amount(tree[i].z)) return wrong("z of " + tree.label(i), amount);
  }
  return {};
}

LoadTree complete_tree(std::size_t levels, std::size_t arity, double w, double z) {
  LoadTree tree(w);
  const std::function<void(std::size_t, std::size_t)> grow = [&](std::size_t parent, std::size_t left) {
    if (left == 0) return;
    for (std::size_t k = 0; k < arity; ++k) grow(tree.add(parent, w, z), left - 1);
  };
  grow(0, levels);
  return tree;
}

std::size_t complete_arity(const LoadTree& tree) {
  if (tree.size() == 1) return 1;
  const std::size_t arity = tree[0].children.size();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].children.size() != (tree[i].level < tree.depth() ? arity : 0)) return 0;
  }
  return arity;
}

bool is_homogeneous(const LoadTree& tree) {
  if (!tree.root_computes()) return false;
  for (std::size_t i = 1; i < tree.size(); ++i) {
    if (tree[i].w != tree[0].w || tree[i].z != tree[1].z) return false;
  }
  return true;
}

std::vector<double> subtree_loads(const LoadTree& tree, const std::vector<double>& shares) {
  CHECK_TRUE(shares.size() == tree.size());
  std::vector<double> loads = shares;
  for (std::size_t i = tree.size() - 1; i > 0; --i) loads[tree[i].parent] += loads[i];
  return loads;
}

}  // namespace gleaner::planning
