// A unit, and what a stage knows of a host: what the caller stores, and what the stage goes on from after a
// restart. Value types.
#pragma once

#include <cstdint>
#include <string>

#include "server/policy/sizing/sizing.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/protocol/messages.h"

namespace gleaner::policy {

// Numbers are stored; never reuse one. Nobody hands out `flood` any more.
enum class UnitKind : std::uint8_t { fresh = 1, recover = 2, split = 3, copy = 4, flood = 5, check = 6 };
enum class UnitState : std::uint8_t { open = 1, done = 2, cancelled = 3, failed = 4, expired = 5 };
[[nodiscard]] const char* name_of(UnitKind kind);
[[nodiscard]] const char* name_of(UnitState state);

// A unit: a range leased to one host. Times as the server saw them.
struct Unit {
  UnitId id;
  UnitId group;  // the first of the units that compute the same items (itself, mostly)
  HostId host;
  int slot = 0;
  UnitKind kind = UnitKind::fresh;
  UnitState state = UnitState::open;
  bool cut_unheard = false;  // its end changed since the host last asked
  protocol::RunState run_state = protocol::RunState::waiting;
  Range range;                 // `end` shrinks when it is cut
  std::int64_t committed = 0;  // first item not committed
  std::int64_t finished = 0;   // first item not finished, as reported
  std::string pause_reason;
  double rate_minute = 0;      // reported (r60)
  double item_seconds = 0;     // reported: spent in the item in progress
  double running_seconds = 0;  // reported
  Timestamp issued;
  Timestamp last_contact;
  Timestamp deadline;
  Timestamp closed;
  std::string reason;      // why it was handed out with this size
  double begun_share = 0;  // of its first item: what was saved of it, from which this host goes on
  HostId begun_by;         // the host that began that item
  std::int64_t handed_end =
      0;  // its end when it was handed out (results up to there are welcome); 0: range.end
};

// What this stage knows of a host. Kept over restarts by the caller.
struct HostRecord {
  HostId host;
  double performance = 0;  // benchmark
  double queue_unloaded = 1;
  double queue_current = 1;
  double proposed_items = 0;
  int slots = 1;                // that ever asked
  double rate = 0;              // hint units per second and slot; 0 unknown
  double measured_seconds = 0;  // on-time that went into it
  std::int64_t interruptions = 0;
  double on_seconds = 0;
  double used_performance = 0;  // sizing strategy's memory
  std::int64_t current_size = 0;
  std::int64_t requests = 0;
  std::int64_t returned = 0;
  bool omitted = false;  // papers' omission rule
  Timestamp last_contact;
  // Accounting (reported to people, never decided on)
  std::int64_t units = 0;
  std::int64_t items_accepted = 0;
  double cost_accepted = 0;
  double cost_wasted = 0;
  double busy_seconds = 0;
  std::int64_t cuts = 0;
  std::int64_t copies = 0;
  // More of the sizing strategy's: in hint units; and the stage's memory after this host's latest unit (the
  // stage's own is the one with the most units).
  WorkTimes times;
  StageMemory memory;
};

}  // namespace gleaner::policy
