// The inside of Stage, shared by the files of this room; nobody else includes it. See stage.h for the rules.
//
//   stage.cpp      the public functions, each a few lines
//   pool.cpp       the free pool: which items, how many (sizing)
//   long_items.cpp which items while some are long (R3)
//   overlong.cpp   items that prove longer than their hint
//   checkpoints.cpp  items in progress that another host goes on with
//   early_copies.cpp  copies of either while there is free work, in time
//   units.cpp      a unit's life: opened, cut, closed; items that nobody holds any more become free
//   events.cpp     reports, commits, failures, leases, omission
//   estimates.cpp  rates (R1), where a holder is, when a unit ends (R5), who is on, pace
//   straggler*.cpp what an idle slot gets when nothing is free: one rule a file; Gleaner's own are in
//   endgame.cpp    re-covering (R6a) and
//   help.cpp       splits, copies, floods (R6b-R6e)
//   checks.cpp     disputes: third opinions
//   restore.cpp    from what was stored; invariants
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/policy/stage/costs.h"
#include "server/policy/stage/cover.h"
#include "server/policy/stage/fleet.h"
#include "server/policy/stage/free_by_cost.h"
#include "server/policy/stage/stage.h"

namespace gleaner::policy {

using SlotKey = std::pair<HostId, int>;
struct Host;
struct Slot;
struct Group;

// An open unit and what is derived of it.
struct Held {
  Unit unit;
  // While it is open; places in the maps below do not move. A check has no group.
  Host* host = nullptr;
  Slot* slot = nullptr;
  Group* group = nullptr;
  Timestamp stall_at;                         // silent from then on if nothing is heard
  Timestamp watched_from = Timestamp::max();  // its key in by_silence; max: it is not there
  Timestamp told_contact;                     // when it was told to report next
  Timestamp lease_end;                        // comparison rules: late from then on
  bool silent = false;                        // R5
  bool stuck = false;                         // R5: answers, but is paused or at <= 2 % of its rate
  Timestamp stalled_since;
  Timestamp finished_at = Timestamp::max();  // all of it, as reported: only the delivery is missing
  // Estimate: at `estimated_at` it had done `done_cost` (counted from item 0) and went on at `rate` from
  // `starts`.
  Timestamp estimated_at;
  Timestamp starts;
  double done_cost = 0;
  double rate = 0;
  Timestamp expected_end;
  // R1: on-time and work since the last measurement.
  Timestamp clock_at;        // when clock_seconds was right
  double clock_seconds = 0;  // on-time of this unit
  bool clock_runs = false;
  double measured_seconds = 0;
  double measured_cost = 0;
  double paused_seconds = 0;  // of the on-time, as reported
  double measured_paused_seconds = 0;
  double waste_charged = 0;  // assumed lost when it was closed; taken back if it comes after all
  bool returned = false;     // has delivered anything
  double item_share = 0;     // of the item in progress done, as reported; 0: unknown, or too soon to tell

  [[nodiscard]] bool live() const { return !silent && !stuck; }
};

struct Slot {
  SlotKey key;
  Host* host = nullptr;
  std::vector<Held*> units;  // open, in order of issue: the first is computed, the rest wait
  Timestamp off_at;
  Timestamp watched_from = Timestamp::max();  // its key in slots_by_off; max: it is not there
  bool on = false;                            // heard of lately, and not stalled
  // Items that proved long here, one right after the other, tell of a slow host and not of long items.
  std::int64_t items_done = 0;
  std::int64_t told_item = -1, told_after = 0;  // the latest that was told to be long, and items_done then
  bool slow = false;
  bool idle = false;  // on, without a unit
  // While it is idle and its owner has said what it draws (energy.cpp):
  double draw = 0;    // its key in idle_by_draw; 0: it is not there
  Timestamp asks_at;  // when it was told to ask again
  UnitId kept_for;    // the group that another slot left to it; none: it may have any
};

struct Host {
  HostRecord record;
  int slots_on = 0;
  std::vector<int> slots;   // that ever asked, sorted
  double pending_cost = 0;  // R1: pieces too short to be measured alone
  double pending_seconds = 0;
  double watts = 0;  // that a slot draws while it computes; 0: not said
};

// The open units that compute the same items.
struct Group {
  UnitId id;
  std::vector<Held*> members;  // by id
  double stalled_rest = 0;     // its part of stalled_cost
  bool live = false;           // which index it is in, under which key
  bool moved = false;          // is in StageState::moved_groups
  Timestamp key;
};

// A disputed range that needs another opinion.
struct Check {
  Range range;
  std::vector<HostId> asked;  // hosts that have given theirs
  UnitId unit;                // who computes it now; none: wanted
};

// R3: where the next unit of a host starts while there are long items.
struct LongPick {
  Range from;            // a part of the free pool; empty: plain order
  double most_cost = 0;  // the unit ends before an item that costs more
  bool park = false;     // nothing for this host: faster ones will take it sooner to its end
};

// What a host has spent on an item in progress: seconds, and the hint cost that it computes in that time; 0:
// not long yet.
struct Spent {
  HostId host;
  double seconds = 0, cost = 0;
  double whole = 0;  // what the item costs, by what is done of it; 0: nobody knows
};

// What is kept of an item in progress, and who began it.
struct SavedItem {
  double share = 0;
  HostId begun_by;
};

// An item in progress far beyond its hint, or told to become so.
struct Overlong {
  std::vector<Spent> spent;
  double listed = 0;  // its cost in long_items; 0: it is not there for this
};

// Comparison rules: what they found when they last looked at all units.
struct CopyPlan {
  Timestamp made = Timestamp::min();
  std::vector<UnitId> groups;  // to be copied, best first
  double slow_host_rate = 0;   // LATE
  UnitId last_copied;          // rDLB
};

// Idle slots that found nothing since anything changed.
struct SearchesInVain {
  Timestamp since = Timestamp::min();
  int count = 0;
  double fastest = 0;
};

class StragglerRule;

struct StageState {
  explicit StageState(StageSetup setup_in);

  // Configuration
  StageSetup setup;
  Costs costs;
  std::unique_ptr<SizingStrategy> sizing;
  const StragglerRule* rule;
  int holders_limit = 0;  // of one item, by this rule and those before it
  StageMemory sizing_memory;
  double cost_variation = 0;

  // Items
  RangeSet accepted, free, set_aside, undecided, disputed, dropped;
  double free_cost = 0, accepted_cost = 0;
  std::int64_t givers = 0;
  std::vector<Range> returned;  // given-back ranges, most recent last: hints into `free`, handed out first
  std::map<std::int64_t, std::map<HostId, int>> failures;  // item -> host -> times
  std::map<std::int64_t, Overlong> overlong;               // items in progress
  std::optional<FreeByCost> free_by_cost;                  // made when long items first matter
  std::map<std::int64_t, SavedItem> saved;                 // items in progress
  // By cost: handed out, and a minute or more for their holder. What is accepted goes when it is met.
  std::set<std::pair<double, std::int64_t>> long_items;
  Timestamp first_request = Timestamp::max();
  Timestamp parked_since = Timestamp::max();  // R3: hosts are passed over since then
  bool enough = false;
  bool omission_done = false;

  // Units
  std::unordered_map<UnitId, Held> open;
  std::unordered_map<UnitId, Held> closed;
  std::deque<UnitId> closed_order;
  Cover cover;
  std::map<UnitId, Group> groups;
  // (stall_at, unit) of those not silent, or an earlier time: it is looked up then, so that a report that
  // moves stall_at need not move the entry. slots_by_off the same.
  std::set<std::pair<Timestamp, UnitId>> by_silence;
  std::set<std::pair<Timestamp, UnitId>> silent_units;  // (deadline, unit)
  // (expected end, group), but for groups that moved since: only the endgame looks (latest_live()), and most
  // ends are estimated many times before it does.
  std::set<std::pair<Timestamp, UnitId>> live_groups;
  std::vector<UnitId> moved_groups;
  std::set<std::pair<Timestamp, UnitId>> stalled_groups;  // (since, group)
  double stalled_cost = 0;                                // remaining of the stalled groups' units
  std::vector<Check> checks;
  std::set<std::pair<Timestamp, UnitId>> by_lease;  // (lease_end, unit), comparison rules
  std::set<UnitId> copied_once;                     // groups that had their copy
  CopyPlan plan;
  SearchesInVain vain;
  std::set<std::pair<double, SlotKey>> idle_by_draw;  // idle slots, by joules for a hint unit
  std::vector<IdleHost> expected;                     // those that have not asked yet, thriftiest first
  bool left_to_thriftier = false;                     // the slot that asks was passed over

  // Hosts
  std::map<HostId, Host> hosts;
  std::map<SlotKey, Slot> slots;
  std::set<std::pair<Timestamp, SlotKey>> slots_by_off;
  std::int64_t idle_slots = 0;
  Fleet fleet;

  // Counters
  std::int64_t units_made = 0, splits = 0, recovered = 0, copies = 0, disputes_seen = 0;
  std::int64_t units_done = 0, open_copies = 0;
  double copied_cost = 0, wasted_cost = 0;

  mutable EndgameRules paced_rules;  // of pace(), for that length
  mutable double paced_for = -1;

  // ---- estimates.cpp
  void refresh(Timestamp now, Changes& changes);  // who fell silent since
  [[nodiscard]] EndgameRules pace() const;
  [[nodiscard]] double heartbeat(const EndgameRules& rules) const;
  Host& host_of(HostId id);
  Slot& slot_of(const SlotKey& key);
  // Every change of a record or of slots_on goes through here.
  template <typename Change>
  void change_host(Host& host, Change change) {
    const Fleet::Keys before = Fleet::keys_of(host.record, host.slots_on);
    fleet.out(host.record, host.slots_on);
    change(host);
    fleet.in(host.record, host.slots_on);
    fleet.relist(before, Fleet::keys_of(host.record, host.slots_on));
  }
  void contact_slot(Slot& slot, Timestamp now);
  void update_slot(Slot& slot, Timestamp now);
  void contact(Held& held, Timestamp now, const EndgameRules& rules);
  void unstall(Held& held, Timestamp now);
  void mark_stalled(Held& held, Timestamp since);
  [[nodiscard]] bool too_slow(const Held& held, const EndgameRules& rules) const;
  void estimate(Held& held, Timestamp now);
  void estimate_slot(Slot& slot, Timestamp now);
  [[nodiscard]] double holder_rate(const Held& held) const;
  [[nodiscard]] double work_done(const Held& held, Timestamp at) const;
  [[nodiscard]] static double seconds_left(const Held& held, Timestamp now);
  [[nodiscard]] static double seconds_left(const Group& group, Timestamp now);
  void measure(Held& held, const EndgameRules& rules, bool ended, Changes& changes);

  // ---- units.cpp
  Held& open_unit(const Requester& requester, UnitKind kind, Range range, UnitId group, std::string reason,
                  Timestamp now, Changes& changes);
  Held& insert_open(Held made, Timestamp now);
  void cut(UnitId id, std::int64_t end, const std::string& reason, Timestamp now, Changes& changes);
  void close(UnitId id, UnitState state, const std::string& reason, Timestamp now, Changes& changes);
  void release(Range range);  // what nobody holds and is not accepted becomes free
  void add_free(Range range);
  void remove_free(Range range);
  void index_group(Group& group);
  void unindex_group(Group& group);
  void group_moved(Group& group);
  // live_groups in order.
  [[nodiscard]] const std::set<std::pair<Timestamp, UnitId>>& latest_live();
  void trim_others(UnitId by, HostId host, Range range, Timestamp now, Changes& changes);
  [[nodiscard]] double remaining_cost(const Unit& unit) const;
  [[nodiscard]] Held* find(UnitId id, HostId host);
  [[nodiscard]] const Held* find(UnitId id, HostId host) const;
  void decide(Changes& changes, Timestamp now, HostId host, UnitId unit, const char* kind, Range range,
              std::string reason) const;
  // A reason, where anybody reads it.
  template <typename... Arguments>
  [[nodiscard]] std::string because(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return setup.explain ? fmt::format(text, std::forward<Arguments>(arguments)...) : std::string();
  }

  // ---- long_items.cpp
  [[nodiscard]] bool settling(const EndgameRules& rules, Timestamp now) const;
  [[nodiscard]] bool long_items_matter(const EndgameRules& rules, Timestamp now);
  [[nodiscard]] LongPick pick_long(const Requester& requester, const EndgameRules& rules, Timestamp now);
  [[nodiscard]] std::int64_t fitting_end(Range range, double most_cost) const;
  [[nodiscard]] double fast_from() const;  // rate of a host that is fast among those that are on

  // ---- overlong.cpp
  void learn(const Held& held, const EndgameRules& rules);
  static void finish_up_to(Held& held, std::int64_t item);
  [[nodiscard]] static bool hear_of_long(Slot& slot, std::int64_t item);
  void list_overlong(std::int64_t item, const EndgameRules& rules);
  void forget(Range range);
  [[nodiscard]] bool is_overlong(std::int64_t item, HostId host) const;
  [[nodiscard]] double proven_cost(std::int64_t item) const;
  [[nodiscard]] double told_cost(std::int64_t item) const;

  // ---- checkpoints.cpp
  bool save(HostId host, UnitId unit, std::int64_t item, double share);
  void forget_saved(Range range);
  bool go_on_from_saved(Unit& unit) const;  // whether it does
  [[nodiscard]] double saved_share(std::int64_t item) const;
  // What somebody else had done of an item of the unit.
  [[nodiscard]] static double begun_share(const Unit& unit, std::int64_t item) {
    return item == unit.range.begin ? unit.begun_share : 0;
  }

  // ---- energy.cpp
  void expect(const std::vector<IdleHost>& idle);
  void has_asked(const Requester& requester, Slot& slot);
  void waits_until(Slot& slot, Timestamp asks_at);
  void unlist_draw(Slot& slot);
  [[nodiscard]] double speed_of(const HostRecord& record) const;
  [[nodiscard]] double draw_of(const Host& host) const;
  [[nodiscard]] bool leave_free_to_thriftier(const Requester& requester, Timestamp now);
  [[nodiscard]] bool leave_to_thriftier(const Requester& requester, UnitId group, double work, Timestamp now);

  // ---- early_copies.cpp
  struct ItemHolders;
  void note_long(const Held& held, const EndgameRules& rules);
  [[nodiscard]] ItemHolders holders_of(std::int64_t item, Timestamp now) const;
  [[nodiscard]] Grant copy_early(const Requester& requester, Timestamp now, Changes& changes);
  // `rate`: the host's; `rest`: the seconds that all that is free or stalled will take.
  [[nodiscard]] Grant copy_long(const Requester& requester, double rate, double rest,
                                const EndgameRules& rules, Timestamp now, Changes& changes);
  [[nodiscard]] Grant copy_overlong(const Requester& requester, double rate, double rest,
                                    const EndgameRules& rules, Timestamp now, Changes& changes);
  Grant copy_item(const Requester& requester, std::int64_t item, double cost, UnitId group,
                  const std::string& reason, Timestamp now, Changes& changes);

  // ---- pool.cpp
  [[nodiscard]] Grant grant_fresh(const Requester& requester, Timestamp now, Changes& changes);
  [[nodiscard]] Grant grant_planned(const Requester& requester, Timestamp now, Changes& changes);
  [[nodiscard]] Range next_free(HostId host);
  [[nodiscard]] Range allowed_part(Range range, HostId host) const;
  [[nodiscard]] bool may_take(std::int64_t item, HostId host) const;
  [[nodiscard]] GridLimits grid_limits(const EndgameRules& rules) const;
  [[nodiscard]] Size size_for(const Requester& requester, const EndgameRules& rules);

  // ---- events.cpp
  [[nodiscard]] CommitOutcome judge(HostId host, UnitId unit, Range range) const;
  CommitOutcome commit(HostId host, UnitId unit, Range range, bool last, Timestamp now, Changes& changes);
  protocol::UnitOrder report(HostId host, const protocol::UnitReport& report, Timestamp now,
                             Changes& changes);
  void note_failure(HostId host, std::int64_t item, const std::string& reason, Timestamp now,
                    Changes& changes);
  void omit(Timestamp now, Changes& changes);
  void expire(Timestamp now, Changes& changes);

  // ---- straggler_deadline.cpp
  void start_lease(Held& held, Timestamp now);
  void end_lease(Held& held);
  [[nodiscard]] Grant reissue(const Requester& requester, Timestamp now, Changes& changes);

  // ---- endgame.cpp
  [[nodiscard]] Grant recover(const Requester& requester, double rate, const EndgameRules& rules,
                              Timestamp now, Changes& changes);
  [[nodiscard]] Grant recover_group(const Requester& requester, double work, UnitId group, Timestamp now,
                                    Changes& changes);
  [[nodiscard]] bool holds_any(const Group& group, HostId host) const;
  [[nodiscard]] bool only_delivery_missing(const Held& held, Timestamp now) const;
  void cut_group(UnitId group, std::int64_t end, UnitId except, const std::string& reason, Timestamp now,
                 Changes& changes);

  // ---- help.cpp
  [[nodiscard]] Grant help(const Requester& requester, double rate, const EndgameRules& rules, Timestamp now,
                           Changes& changes);
  [[nodiscard]] Grant split(const Requester& requester, double rate, UnitId group, const EndgameRules& rules,
                            Timestamp now, Changes& changes);
  [[nodiscard]] Grant copy(const Requester& requester, double rate, UnitId group, const EndgameRules& rules,
                           Timestamp now, Changes& changes);
  [[nodiscard]] std::vector<UnitId> latest_groups(Timestamp now);

  // ---- checks.cpp
  [[nodiscard]] Grant grant_check(const Requester& requester, Timestamp now, Changes& changes);
  void drop_checks(Range range, Timestamp now, Changes& changes);
  void check_closed(UnitId unit, bool delivered, HostId host);

  // ---- restore.cpp
  void restore(const std::vector<Range>& accepted_in, const std::vector<Unit>& units,
               const std::vector<HostRecord>& records, const std::vector<Range>& set_aside_in, Timestamp now);
  void check_invariants() const;
  void check_changed(const Changes& changes) const;
  void check_unit(const Held& held) const;
};

// R6c: the longer an item has taken, the longer it is expected to go on; by this much of what it took.
inline constexpr double expected_more = 0.5;

// Stalled copies do not count against the limits of live ones, but they do not pile up for ever.
[[nodiscard]] inline int members_max(const EndgameRules& rules) {
  return 2 * std::max(1, rules.flood_copies);
}

// Sorted, each once.
void tidy(Changes& changes);

[[nodiscard]] inline Timestamp later(Timestamp time, double seconds) {
  return time + from_seconds(seconds);
}
[[nodiscard]] inline double seconds_between(Timestamp from, Timestamp to) {
  return to_seconds(to - from);
}

}  // namespace gleaner::policy
