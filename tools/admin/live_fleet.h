// The live project as a fleet: the server, which computes nothing, hands out to its hosts in a star. Their
// speeds are what the admin API tells: the benchmark on all cores, or for one problem the rates measured on
// it; so are their links. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/protocol/admin_messages.h"
#include "tools/admin/fleet_file.h"

namespace gleaner::admin {

// What the whole load and result would take over one host's link, and how much slower or faster (z) than that
// the links of single hosts are; 1 for those that are not named.
struct LiveLinks {
  double load_seconds = 0;
  double result_seconds = 0;
  planning::Duplex duplex = planning::Duplex::full;
  std::map<HostId, double> relative = {};
};

// From the hosts' own measurements; the typical link is the median. Hosts without any count as typical.
// not_found if no host has measured its link.
[[nodiscard]] Result<LiveLinks> measured_links(const std::vector<protocol::HostInfo>& hosts,
                                               double load_bytes, double result_bytes);

struct LiveFleet {
  Fleet fleet;
  std::string load;                  // what the load of 1 is, for people
  std::vector<std::string> remarks;  // hosts not counted, and why
};

// A load of `mflop`. Hosts that are active and have a benchmark, by id; not_found if there are none.
[[nodiscard]] Result<LiveFleet> live_fleet(const std::vector<protocol::HostInfo>& hosts, double mflop,
                                           const LiveLinks& links);

// What is left of a problem, on the hosts that have delivered for it and were heard of in the last five
// minutes. Errors: conflict if it has ended, has nothing left or nothing measured yet.
[[nodiscard]] Result<LiveFleet> live_fleet(const protocol::ProblemInfo& problem, const LiveLinks& links);

// When a problem ends: what is left divided by the rate, by three ways to know that: the measured rates of
// the hosts at work, the last minute, the average since it began. The fastest and the slowest are the
// interval.
struct Forecast {
  double seconds = 0, low = 0, high = 0;
  double rate_of_hosts = 0, rate_of_minute = 0, rate_average = 0;  // hint units per second; 0: not known
};
// `planned`: the finish of the best plan for live_fleet(problem).
[[nodiscard]] Forecast forecast(const protocol::ProblemInfo& problem, double planned);

}  // namespace gleaner::admin
