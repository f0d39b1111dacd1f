// A fleet as administrators write it, for `plan`: what a load costs, and the tree of nodes with their speeds
// and links, children in the order in which they are served:
//   {"tcp":1,"tcm":1,"tsol":0.2,"duplex":"full",
//    "root":{"w":1.0,"children":[{"name":"lab-1","w":0.8,"z":0.05,"children":[]}]}}
// Only root, its w, and every child's w and z must be there. Pure.
#pragma once

#include <string_view>

#include "shared/base/result.h"
#include "shared/planning/load_tree.h"

namespace gleaner::admin {

struct Fleet {
  planning::LoadTree tree{1};
  planning::LoadCost cost;
};

// Errors: invalid with line and column (no JSON) or the key's path and what was expected there; too_large
// beyond limits.h.
[[nodiscard]] Result<Fleet> parse_fleet(std::string_view text);

}  // namespace gleaner::admin
