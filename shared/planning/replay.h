// What really happens when load is given out as an allocation says: every transfer, computation and report
// with its times, on nodes that store and forward. Any allocation may be replayed, good or bad. Pure.
// Source: Ko and Robertazzi, sections II-V; the published tables are reproduced by exactly these rules.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/planning/load_tree.h"

namespace gleaner::planning {

enum class Activity { receive, compute, report };  // receive: load from the parent; report: results to it
[[nodiscard]] const char* name_of(Activity activity);

// One bar of a Gantt chart.
struct Span {
  std::size_t node = 0;
  Activity activity = Activity::compute;
  double begin = 0, end = 0;
};

struct Replay {
  double finish = 0;             // the last result is at the root, and the root has computed its share
  std::vector<double> finishes;  // when each node has computed its own share
  std::vector<Span> spans;       // those that take time, by node and begin
};

// EAS and SOS: a child gets the load of its whole subtree as one message and reports its subtree's result as
// one, in the order of distribution; a node computes once all of its load is there. Half duplex: a node takes
// the first report only when all load is sent. REQUIRES: shares in pre-order, not negative.
[[nodiscard]] Replay replay_whole(const LoadTree& tree, const LoadCost& cost,
                                  const std::vector<double>& shares);

// MOS: one message a node, sent by the root in `order` (which begins with node 0) and forwarded in the order
// of arrival; every result travels on its own. A transfer begins as soon as it can, the longest waiting one
// first (at the same instant: load before results). Full duplex: each node has one port for sending and one
// for receiving; half duplex: one for both.
[[nodiscard]] Replay replay_installments(const LoadTree& tree, const LoadCost& cost,
                                         const std::vector<double>& shares,
                                         const std::vector<std::size_t>& order);

}  // namespace gleaner::planning
