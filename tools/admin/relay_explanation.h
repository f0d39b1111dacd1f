// What keeps the hosts under a relay from doing more, and whom of them it would do as well without: by the
// planner (shared/planning/bottleneck.h), from what hosts measured of themselves. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::admin {

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

struct RelayExplanation {
  std::string relay;     // its name
  std::string limit;     // hosts, link-down, link-up, hosts-links, relay-below, work or unknown
  std::string sentence;  // the same for people
  // Items per second: what it can do, and what its hosts could if links took no time; absent: not known.
  std::optional<double> rate, computing;
  std::optional<double> work_seconds;       // what it holds lasts its hosts so long
  std::vector<std::string> left_out;        // hosts by name that it would do as well without
  std::vector<std::string> never_measured;  // what counts as nothing here, or is left out of the account
};

// too_large: it has more hosts under it than the linear program is solved for.
[[nodiscard]] Result<RelayExplanation> explain_relay(const RelayFigures& figures);
// The answer of --json.
[[nodiscard]] std::string explanation_document(const RelayExplanation& explanation);

}  // namespace gleaner::admin
