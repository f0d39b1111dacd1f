// The machines a plan is made for: a tree of nodes that send load down and results up, and how much computing
// and sending one unit of load costs. Pure values; any thread may read them.
// Source: K. Ko, T. Robertazzi, "Equal Allocation Scheduling for Data Intensive Applications", section II.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::planning {

// May a node receive results while it still sends load?
enum class Duplex { full, half };
[[nodiscard]] const char* name_of(Duplex duplex);

// Seconds are seconds of whatever the fleet's numbers mean: a whole load of 1 takes a node w * tcp to
// compute, z * tcm to receive over its link, and its result z * tsol to report over the same link.
struct LoadCost {
  double tcp = 1;   // computing intensity; above 0
  double tcm = 1;   // communication intensity; not negative
  double tsol = 0;  // communication intensity of results; not negative
  Duplex duplex = Duplex::full;
};

struct Node {
  std::string name;  // may be empty
  double w = 1;      // inverse speed; above 0
  double z = 0;      // inverse speed of the link to its parent; not negative; the root has none
  std::size_t parent = 0;
  std::size_t level = 0;              // the root's is 0
  std::size_t subtree_end = 0;        // nodes [own index, subtree_end) are its subtree
  std::vector<std::size_t> children;  // in the order in which they are served
};

// Nodes in pre-order: the root is 0, and a subtree is a range. Never empty.
class LoadTree {
 public:
  explicit LoadTree(double root_w, std::string name = {});
  // A root that only hands out and computes nothing (as a server does).
  [[nodiscard]] static LoadTree dispatcher(std::string name);
  // Adds the next node in pre-order. REQUIRES: `parent` is the node added last or one of its ancestors.
  std::size_t add(std::size_t parent, double w, double z, std::string name = {});

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Node& operator[](std::size_t index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t depth() const { return depth_; }  // levels below the root
  [[nodiscard]] bool root_computes() const { return root_computes_; }
  // Its name, or "node 3" where it has none.
  [[nodiscard]] std::string label(std::size_t index) const;

 private:
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;
  bool root_computes_ = true;
};

// invalid, naming the node, if a number is not what the comments above ask for; too_large beyond limits.h.
[[nodiscard]] Status check_load(const LoadTree& tree, const LoadCost& cost);

// The paper's L-level K-ary tree with equal nodes and links.
[[nodiscard]] LoadTree complete_tree(std::size_t levels, std::size_t arity, double w, double z);
// Its arity if every inner node has the same number of children and all leaves the same level; else 0. A
// single node counts as complete with arity 1.
[[nodiscard]] std::size_t complete_arity(const LoadTree& tree);
// Are all nodes equal, and all links?
[[nodiscard]] bool is_homogeneous(const LoadTree& tree);

// Load of the whole subtree of every node, from the shares in pre-order.
[[nodiscard]] std::vector<double> subtree_loads(const LoadTree& tree, const std::vector<double>& shares);

}  // namespace gleaner::planning
