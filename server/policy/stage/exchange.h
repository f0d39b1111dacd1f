// What a stage is told and what it answers: who asks, what is handed out, what an event changed. Value types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/policy/hosts/unit.h"
#include "server/policy/stage/setup.h"

namespace gleaner::policy {

struct Decision {
  Timestamp at;
  HostId host;
  UnitId unit;
  std::string kind;  // name_of(UnitKind), or cut, cancel, stall, expire, omit, set-aside, dispute, resolve,
                     // park, pass-over
  Range range;
  std::string reason;
};

// What an event changed; the caller stores it in the same transaction.
struct Changes {
  std::vector<UnitId> units;  // created or changed
  std::vector<HostId> hosts;  // records changed
  std::vector<Decision> decisions;
};

// With so many open units a relay has as much ahead as it is given at once.
constexpr std::size_t relay_leases_max = 16;

// What the hosts of a relay have together.
struct RelayOffer {
  double rate = 0;  // of those that are on, hint units a second; 0: not known yet
  int slots = 1;    // that are on
};

struct Requester {
  HostId host;
  int slot = 0;
  bool urgent = true;  // idle now; false: prefetching
  int slots = 1;       // kernel slots of the host
  double performance = 0;
  double queue_unloaded = 1;
  double queue_current = 1;
  double proposed_items = 0;
  double watts = 0;  // that a slot draws while it computes, by its owner's word; 0: not said
  // Not the project's own: what it says of itself buys little before it delivers [POLICY.md, R9].
  bool stranger = false;
  UnitId unit;  // the id to use if a unit is handed out
  // Where a mapping strategy governs: what it planned for this slot (nothing: an empty range), instead of
  // what the sizing strategy would say of the free pool; and why.
  std::optional<Range> planned = {};
  std::string planned_reason = {};
  std::optional<RelayOffer> relay = {};  // of one, whose performance is that of all slots of its hosts
};

// When a client that was told to wait so many seconds is back at the latest: it spreads waits by a tenth
// (client/policy/backoff.h).
[[nodiscard]] inline double latest_return(double wait) {
  return 1.1 * wait;
}

// A host of the project that waits for work, with `slots` slots: it will ask again by `asks_at`.
struct IdleHost {
  HostId host;
  int slots = 0;
  double performance = 0, watts = 0;  // as in Requester
  Timestamp asks_at;
};

// A slot that is on (heard of lately, and not stalled).
struct SlotView {
  HostId host;
  int slot = 0;
  double seconds_left = 0;  // until what it holds is expected to be done
};

// How a unit of a relay stands: its hosts are anywhere in it, so no first item that is not finished says it.
struct RelayReport {
  UnitId unit;
  std::int64_t begun = 0;   // the first item of the tail that none of its hosts has or had
  double seconds_left = 0;  // until all of it is done, as its own stage expects
  double rate = 0;          // of all its hosts that are on, hint units a second; 0: none is
  int slots = 1;            // that these have: what one item takes is what it takes in one of them
};

struct Grant {
  std::optional<UnitId> unit;  // nothing: see reason
  double retry_after = 0;      // seconds, if nothing
  std::string reason;
};

struct CommitOutcome {
  std::vector<Range> accepted;     // items that this commit is the first to bring
  std::vector<Range> overlapping;  // items that were accepted before: compare them
  bool known_unit = true;          // false: no such unit in this stage for that host
  std::string refusal;             // not empty: nothing was taken, and why
};

// Who is not asked to compute accepted items again, besides the hosts whose results they are.
struct Unasked {
  std::vector<HostId> hosts;       // their results would prove nothing
  Timestamp strangers_until = {};  // strangers, as long as this lies ahead
};

// Accepted items that another host is to compute, too.
struct OpenQuestion {
  Range range;
  std::vector<HostId> settled;  // who is not asked: it gave its answer, or its answer would prove nothing
  Timestamp strangers_until;    // as in Unasked
  bool under_way = false;       // somebody computes them
};

// Progress of a stage, for people.
struct StageCounts {
  std::int64_t items = 0, accepted = 0, free = 0, handed_out = 0, set_aside = 0;
  double cost = 0, cost_accepted = 0, cost_wasted = 0;
  std::int64_t units = 0, open_units = 0, splits = 0, recovered = 0, copies = 0, disputes = 0;
  std::int64_t contributors = 0;  // hosts that items were accepted from
  double rate = 0;                // sum of the rates of the hosts now running
  std::int64_t slots = 0;         // that are on: heard of lately, not stalled
  std::int64_t busy = 0;          // of these, those with a unit
  double watts = 0;               // that the busy ones draw, where owners said so
};

}  // namespace gleaner::policy
