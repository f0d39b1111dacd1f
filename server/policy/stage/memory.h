// What a stage remembers beside its units: open disputes, what rules found and did, sums for people. Plain
// values. Internal to the module.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "server/policy/stage/proposal.h"

namespace gleaner::policy {

// A disputed range that needs another opinion.
struct Check {
  Range range;
  std::vector<HostId> asked;       // hosts that have given theirs, or whose opinion proves nothing
  Timestamp strangers_until = {};  // until then strangers are not asked
  UnitId unit = {};                // who computes it now; none: wanted
};

// Comparison rules: what they found when they last looked at all units, and what they did.
struct CopyMemory {
  Timestamp made = Timestamp::min();
  CopyPlan plan;
  UnitId last;                                      // copied in turn
  std::set<UnitId> once;                            // groups that had their copy
  std::set<std::pair<Timestamp, UnitId>> by_lease;  // (lease_end, unit)
};

// Idle slots that found nothing since anything changed.
struct FailedSearches {
  Timestamp since = Timestamp::min();
  int count = 0;
  double fastest = 0;
};

struct Totals {
  std::int64_t units = 0, splits = 0, recovered = 0, copies = 0, disputes = 0, units_done = 0;
  std::int64_t open_copies = 0, contributors = 0;  // hosts that items were accepted from
  double copied_cost = 0, wasted_cost = 0;
};

}  // namespace gleaner::policy
