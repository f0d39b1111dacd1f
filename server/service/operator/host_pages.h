// Hosts a page at a time, in the order of a column. What they delivered is what was accepted of them since
// the project began, by cost; a host's share is its part of what all delivered. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/service/core/kernel.h"
#include "server/service/operator/host_standings.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

struct HostQuery {
  HostId after;
  std::string text;                          // part of a host's name, version, platform or tags; in any case
  std::optional<protocol::HostState> state;  // absent: any
  std::string tag = {};                      // that it has; empty: any
  HostOrder order = HostOrder::number;
  HostId relay = {};                    // directly under which it is; 0: any
  bool descending = false;              // the other way round
  bool on_hold = false;                 // only those that are
  std::vector<std::string> needs = {};  // that it meets (shared/base/capability.h)
};

class HostPages {
 public:
  static constexpr auto standings_age_max = HostStandings::age_max;

  explicit HostPages(Kernel& kernel) : kernel_(kernel), standings_(kernel) {}
  // Looks at limits::hosts_filtered_max hosts at most; `next` goes on from there.
  void page(HostQuery query, Done<protocol::HostPage> done);

 private:
  void fill(const HostQuery& query, std::shared_ptr<const Standings> order, Done<protocol::HostPage> done);

  Kernel& kernel_;
  HostStandings standings_;
};

}  // namespace gleaner::service
