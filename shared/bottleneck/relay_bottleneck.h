// The bottleneck of a relay, and the hosts under it that add no throughput: by the planner
// (shared/planning/bottleneck.h), from the hosts' own measurements. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner {

// As the admin API tells them.
struct RelayFigures {
  protocol::RelayInfo relay;
  std::vector<protocol::RelayInfo> relays;       // all there are
  std::vector<protocol::HostInfo> hosts;         // all there are
  std::vector<protocol::UnitInfo> units;         // of the relay, the newest first
  std::optional<protocol::ProblemInfo> problem;  // that the newest of them is of, with its hosts' shares
  // Of one item; absent: as the relay says.
  std::optional<double> item_bytes, result_bytes;
};

// too_large: it has more hosts under it than the linear program is solved for.
[[nodiscard]] Result<protocol::RelayLimit> explain_relay(const RelayFigures& figures);

}  // namespace gleaner
