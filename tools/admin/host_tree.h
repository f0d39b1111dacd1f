// Hosts and relays in the order of their tree: each behind what it is under. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/ids.h"

namespace gleaner::admin {

struct TreeMember {
  std::optional<HostId> host;
  std::optional<HostId> relay;  // that it is under
  bool counts = true;           // among the hosts under a relay
};
struct TreePlace {
  std::size_t member = 0;  // which
  int depth = 0;
  std::int64_t under = 0;  // how many are under it, those under relays under it included
};
// All of them, siblings in the order that they were in. Whose relay is not among them is at the top.
[[nodiscard]] std::vector<TreePlace> in_tree(const std::vector<TreeMember>& members);

// Its name behind as many blanks as its depth asks for.
[[nodiscard]] std::string indented(const TreePlace& place, const std::string& name);

}  // namespace gleaner::admin
