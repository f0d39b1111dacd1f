// Who holds what: an open unit with what is derived of it, and the slots, hosts and groups that it hangs
// together with. Plain values; each part of Held is written by the one object named beside it. Only the
// modules of a stage know them.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "server/policy/hosts/deadlines.h"
#include "server/policy/hosts/unit.h"

namespace gleaner::policy {

using SlotKey = std::pair<HostId, int>;
struct Host;
struct Slot;
struct Group;

// Heard of when, and standing still? [HostClock]
struct Watch {
  DeadlinePlace silence = no_deadline;  // when it falls silent if nothing is heard; no_deadline: it is
  bool silent = false;
  bool stuck = false;      // answers, but is paused, at <= 2 % of its rate, or delivers nothing
  bool withholds = false;  // delivers nothing for too long: what it says of it is not believed
  bool runs = false;       // is computed: the first of its slot, until its host says otherwise
  Timestamp told_contact;  // when it was told to report next
  Timestamp stalled_since;
  Timestamp finished_at = Timestamp::max();        // all of it, as reported: only the delivery is missing
  Timestamp undelivered_since = Timestamp::max();  // it says that more is finished than it has delivered
  Timestamp delivered_at;  // a relay's: when something of it was last accepted; before that, leased
};

// On-time and work since the last measurement [HostClock].
struct Meter {
  Timestamp at;        // when `seconds` was right
  double seconds = 0;  // on-time of this unit
  double measured_seconds = 0, measured_cost = 0;
  double paused_seconds = 0, measured_paused_seconds = 0;  // of the on-time, as reported
  // The server's own count of it while the slot was at this unit; what that was at the last commit.
  double seen_seconds = 0, delivered_seconds = 0;
};

// At `at` it had done `done_cost` (counted from item 0) and went on at `rate` from `starts` [Forecast].
struct Estimate {
  Timestamp at;
  Timestamp starts;
  double done_cost = 0;
  double rate = 0;
  Timestamp end;          // of the unit
  double item_share = 0;  // of the item in progress done, as reported; 0: unknown, or too soon to tell
};

// What stays of a unit once it is closed: results that come late are judged by it.
struct KnownUnit {
  Unit unit;
  double waste_charged = 0;  // assumed lost when it was closed; taken back if it comes after all
  bool returned = false;     // has delivered anything

  [[nodiscard]] Range rest() const { return {unit.committed, unit.range.end}; }
};

// An open one. Places in the maps below do not move. A check has no group.
struct Held : KnownUnit {
  bool taken_over = false;  // counted among those that its host held and did not deliver (Host::taken)
  Host* host = nullptr;
  Slot* slot = nullptr;
  Group* group = nullptr;
  Watch watch;
  Meter meter;
  Estimate estimate;
  Timestamp lease_end;        // comparison rules: late from then on
  std::int64_t computed = 0;  // items before it were, says whoever gave the unit back
  // A relay's, as it says: the first item of the tail that none of its hosts has, and when all is done
  // (min(): it has not said).
  std::int64_t begun = 0;
  Timestamp told_end = Timestamp::min();

  [[nodiscard]] bool live() const { return !watch.silent && !watch.stuck; }
  [[nodiscard]] UnitId deadline_key() const { return unit.id; }
};

struct Slot {
  Host* host = nullptr;
  int number = 0;
  DeadlinePlace off = no_deadline;  // among the slots that may go off
  // Open, in order of issue: the first is computed, the rest wait. In the slot itself: every report looks.
  boost::container::small_vector<Held*, 2> units;
  Timestamp off_at;
  // Items that proved long here, one right after the other, tell of a slow host and not of long items
  // [ItemCosts].
  std::int64_t items_done = 0;
  std::int64_t told_item = -1, told_after = 0;  // the latest that was told to be long, and items_done then
  bool slow = false;
  bool on = false;    // heard of lately, and not stalled
  bool idle = false;  // on, without a unit
  bool busy = false;  // on, with one
  // While it is idle and its owner has said what it draws [EnergyFilter]:
  double joules = 0;  // for a hint unit: its key among the idle slots; 0: it is not there
  Timestamp asks_at;  // when it was told to ask again
  UnitId kept_for;    // the group that another slot left to it; none: it may have any

  [[nodiscard]] SlotKey key() const;
  [[nodiscard]] SlotKey deadline_key() const { return key(); }
};

struct Host {
  HostRecord record;
  std::size_t listed = 0;  // its place in the lists of Fleet
  int slots_on = 0, slots_busy = 0;
  int lanes = 1;                                 // a relay: slots of its hosts
  std::size_t units_open = 0;                    // of all its slots
  double pending_cost = 0, pending_seconds = 0;  // pieces too short to be measured alone
  double watts = 0;                              // that a slot draws while it computes; 0: not said
  bool stranger = false;                         // not the project's own: believed as far as it delivers
  bool relay = false;                            // it delivers any part of its units
  // Units of its that others took over, since something of its was accepted; fading [credit.h].
  double taken = 0;
  Timestamp taken_at;
  boost::container::small_vector<std::unique_ptr<Slot>, 1> slots;  // that ever asked, by number
};

inline SlotKey Slot::key() const {
  return {host->record.host, number};
}

// The open units that compute the same items.
struct Group {
  UnitId id;
  boost::container::small_vector<Held*, 1> members;  // by id; mostly one
  // In which order it is, under which key [Forecast].
  bool live = false;
  bool listed = false;  // is among the live ones in order
  // Linked: it is not yet, or its end is another one than the key says. Whoever is gone leaves the list.
  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> moved;
  Timestamp key;
  double stalled_rest = 0;  // counted in the stalled cost
};

// Of `rate`, which `lanes` slots of a relay's hosts have together, what as many items can use.
[[nodiscard]] inline double shared_rate(double rate, std::int64_t items, int lanes) {
  return rate * std::min(1.0, static_cast<double>(items) / static_cast<double>(lanes));
}

[[nodiscard]] inline Timestamp later(Timestamp time, double seconds) {
  return time + from_seconds(seconds);
}
[[nodiscard]] inline double seconds_between(Timestamp from, Timestamp to) {
  return to_seconds(to - from);
}

}  // namespace gleaner::policy
