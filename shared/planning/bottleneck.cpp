#include "shared/planning/bottleneck.h"

namespace gleaner::planning {
namespace {

// Solutions are exact up to rounding; who gets less than this part of what it could do gets nothing.
constexpr double nothing = 1e-6;
constexpr double nearly_all = 1 - nothing;

// Parts of a second that each port of each node is busy.
struct PortTimes {
  std::vector<double> receives, sends;  // all of it
  std::vector<double> down, up;         // of these, over the link to the parent

  PortTimes(const TaskTree& tree, const Throughput& best)
      : receives(tree.nodes.size()), sends(receives), down(receives), up(receives) {
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
      const TaskNode& node = tree.nodes[i];
      down[i] = best.passed[i] * node.task_down;
      up[i] = best.passed[i] * node.result_up;
      receives[i] += down[i];
      sends[i] += up[i];
      if (i == 0) continue;
      sends[node.parent] += down[i];
      receives[node.parent] += up[i];
    }
  }
  // Whether one of the node's is busy all the time.
  [[nodiscard]] bool full(std::size_t node) const {
    return receives[node] >= nearly_all || sends[node] >= nearly_all;
  }
};

}  // namespace

Bottleneck bottleneck_of(const TaskTree& tree, const Throughput& best, std::size_t part) {
  const std::size_t count = tree.nodes.size();
  std::vector<bool> inside(count), idle(count);
  std::vector<double> could(count);
  for (std::size_t i = part; i < count; ++i) inside[i] = i == part || inside[tree.nodes[i].parent];
  for (std::size_t i = count; i-- > part;) {
    could[i] += 1 / tree.nodes[i].compute;
    if (i > part) could[tree.nodes[i].parent] += could[i];
  }
  Bottleneck found;
  found.node = part;
  found.computing = could[part];
  for (std::size_t i = part; i < count; ++i) {
    if (!inside[i]) continue;
    found.rate += best.own[i];
    if (i == part) continue;
    idle[i] = could[i] > 0 && best.passed[i] <= nothing * could[i];
    if (idle[i] && !idle[tree.nodes[i].parent]) found.left_out.push_back(i);
  }
  if (found.rate >= nearly_all * found.computing) return found;

  // Its own ports, those of its parent, or of a relay under it, the nearest: each other node passes on what
  // it gets.
  const PortTimes ports(tree, best);
  std::size_t node = part;
  if (!ports.full(node)) node = tree.nodes[part].parent;
  for (std::size_t i = part; !ports.full(node) && i < count; ++i)
    if (inside[i] && ports.full(i)) node = i;
  // Where most of that time goes to one relay under it, that one's link is the narrow place.
  for (std::size_t i = node + 1; i < count; ++i) {
    if (!inside[i] || tree.nodes[i].parent != node || could[i] <= 1 / tree.nodes[i].compute) continue;
    const bool up = ports.receives[node] >= ports.sends[node];
    if (ports.full(i) && (up ? ports.up[i] : ports.down[i]) > .5) node = i;
  }
  found.node = node;
  const bool receiving = ports.receives[node] >= ports.sends[node];
  found.what = receiving ? Bottleneck::What::receiving : Bottleneck::What::sending;
  const double own = receiving ? ports.down[node] : ports.up[node];
  const double total = receiving ? ports.receives[node] : ports.sends[node];
  found.own_link = own > total - own;
  return found;
}

}  // namespace gleaner::planning
