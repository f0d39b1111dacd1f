// What keeps a part of a tree of relays from doing more, by the best rate that the tree can reach
// (task_tree.h). Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/planning/task_tree.h"

namespace gleaner::planning {

struct Bottleneck {
  // computing: all of its CPUs are busy all the time, and its links would carry more. receiving, sending: the
  // port of `node` is.
  enum class What { computing, receiving, sending } what = What::computing;
  std::size_t node = 0;
  bool own_link = false;  // of that port's time the link to its parent takes more than those to its children
  double rate = 0;        // tasks per second that the part does
  double computing = 0;   // that its CPUs could do, if links took no time
  // Of it those that could compute and get nothing at that rate; not those under one of them.
  std::vector<std::size_t> left_out;
};
// Of the node `part` with all under it. `best`: of that tree.
[[nodiscard]] Bottleneck bottleneck_of(const TaskTree& tree, const Throughput& best, std::size_t part);

}  // namespace gleaner::planning
