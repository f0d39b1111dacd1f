// One stage of one problem as the scheduler sees it: which items are free, held and accepted, who holds what,
// and what to do when a host asks, reports, delivers, fails or falls silent. Pure: `now` is an argument, unit
// ids come from the caller, there is no I/O; the service stores what `Changes` names, the simulator does the
// same in memory.
//
// Rules (R1-R9: specification of Gleaner's policy, section 2; paper rules: divisible strategies, section 2a):
//   free > 0   the sizing strategy says how many items of the free pool the host gets, in order, those that
//              were given back first.
//   free = 0   the endgame, by `Straggler`:
//     split           R4-R9: notice stalled holders (silent, paused, or at <= 2 % of their rate) and re-cover
//                     them from the tail; split live stragglers so that both holders end together, beyond
//                     where the holder will be when it hears of it; copy what cannot be split, within a
//                     budget; flood the last rests; cancel the losers, credit what they committed, take in
//                     what a returning host finished.
//     duplicate_once  the papers': the outstanding unit of the least-performance busy worker, each once; and
//                     the omission rule at 70 % completed.
//     none            wait.
//   Only idle slots get work in the endgame: a slot that asks ahead is served from the free pool alone.
//   Time constants are those of the specification for long stages and shrink with the stage's expected length
//   (`paced`), so that a one-minute problem notices a stalled host in seconds.
//
// Invariants, checked by check_invariants(): free + held + accepted + set aside = N as item sets (held =
// covered by an open unit and not accepted); a unit has one host; copies of an item are on different hosts,
// and no more of them than allowed; accepted never shrinks except where a dispute is decided against it;
// sizes are >= 1.
//
// Cost: O(log n) a report, commit or request, plus the ranges touched; in the endgame a request looks at the
// `look_at` latest units. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/policy/sizing/sizing.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/protocol/messages.h"

namespace gleaner::policy {

// Numbers are stored; never reuse one.
enum class UnitKind : int { fresh = 1, recover = 2, split = 3, copy = 4, flood = 5, check = 6 };
enum class UnitState : int { open = 1, done = 2, cancelled = 3, failed = 4, expired = 5 };
enum class Straggler : int {
  none = 1,
  duplicate_once = 2,
  split = 3,
  late = 4,
  spark = 5,
  wqr = 6,
  deadline = 7,
  rdlb = 8
};
[[nodiscard]] const char* name_of(UnitKind kind);
[[nodiscard]] const char* name_of(UnitState state);
[[nodiscard]] const char* name_of(Straggler rule);
[[nodiscard]] Result<Straggler> straggler_from(std::string_view text);

struct StragglerInfo {
  Straggler rule = Straggler::none;
  std::string name;
  std::string summary;  // one line
  std::string source;
};
[[nodiscard]] std::vector<StragglerInfo> straggler_rules();

// Tunables of R1-R8, with the specification's defaults; seconds unless said otherwise.
struct EndgameRules {
  double rate_memory = 900;  // R1 tau
  double heartbeat = 60;     // R4
  double heartbeat_endgame = 15;
  double stall_silence = 90;  // R5 theta
  // The same while heartbeats are those of the endgame. Beyond the specification; off-switch: 90.
  double stall_silence_endgame = 35;
  double stall_rate = 0.02;      // of the host's own rate
  double look_ahead = 5;         // R6b: beyond the next heartbeat
  double gain_minimum = 5;       // R6b gmin
  int look_at = 30;              // R6b K
  int live_copies = 3;           // R6c
  int flood_copies = 6;          // R6d
  double copy_budget = 0.10;     // R6e, of the stage's cost
  double guided_fraction = 0.7;  // R2, R6a f
  double unit_minimum = 60;      // R2 tmin
  double unit_maximum = 1200;    // R2 tmax
  double lease = 86400;          // garbage collection only
  double park = 10;              // Retry-After of an idle slot that got nothing
  double request_delay = 2;      // o: from a decision until the kernel computes
  double fit = 0.35;             // R3: the longest item for a host, of the time in which all would end
  double lease_factor = 0;       // other rules: a unit is late after so many times its estimate; 0: never
  double lease_minimum = 600;    // but no sooner than this
  int failures_set_aside = 3;    // a range that failed on so many hosts is set aside
  int opinions_max = 5;          // hosts asked about a disputed item before it is set aside

  // Off-switches, to measure what each rule is worth.
  bool long_items_first = true;  // R3
  bool see_stalls = true;        // R5, R6a: silent and paused holders
  bool see_pauses = true;        // R5: of these, holders that answer
  bool split_live = true;        // R6b
  // Beyond the specification:
  bool learn_costs = true;   // items that prove longer than their hint
  bool copy_long = true;     // a long item that would end after all the rest, copied in time
  bool settle = true;        // R3: who asks in the first minute does not yet tell how long all will take
  bool fast_copies = true;   // copies of such items are for fast hosts, and slow ones do not keep them out
  bool see_progress = true;  // an item in progress takes as long as what is done of it says
  bool move_checkpoints = true;  // what a host saved of an item, another one goes on from
  bool save_energy = true;       // of hosts that would end as soon, the one that draws least
};

// The same numbers shortened for a stage that is expected to last `seconds` at the present rates. Never
// longer than the rules say; heartbeats never below 1 s.
[[nodiscard]] EndgameRules paced(const EndgameRules& rules, double seconds);

struct StageSetup {
  std::int64_t items = 0;
  std::vector<double> costs;  // hints, one an item; empty: all 1
  std::string sizing = "wis";
  Straggler straggler = Straggler::split;
  bool may_split = true;  // from the manifest: may a unit end earlier than handed out?
  EndgameRules rules;
  // What a unit of benchmark performance is worth in hint units per second, where that is known beforehand;
  // 0: it is learned from the first hosts that deliver.
  double benchmark_worth = 0;
  // Decisions are told, with reasons (Changes::decisions, Unit::reason, Grant::reason). Words cost more than
  // what they tell of: a simulation that shows them to nobody does without.
  bool explain = true;
};

// A unit: a range leased to one host. Times as the server saw them.
struct Unit {
  UnitId id;
  UnitId group;  // the first of the units that compute the same items (itself, mostly)
  HostId host;
  int slot = 0;
  UnitKind kind = UnitKind::fresh;
  UnitState state = UnitState::open;
  Range range;                 // `end` shrinks when it is cut
  std::int64_t committed = 0;  // first item not committed
  std::int64_t finished = 0;   // first item not finished, as reported
  protocol::RunState run_state = protocol::RunState::waiting;
  std::string pause_reason;
  double rate_minute = 0;      // reported (r60)
  double item_seconds = 0;     // reported: spent in the item in progress
  double running_seconds = 0;  // reported
  Timestamp issued;
  Timestamp last_contact;
  Timestamp deadline;
  Timestamp closed;
  bool cut_unheard = false;  // its end changed since the host last asked
  std::string reason;        // why it was handed out with this size
  double begun_share = 0;    // of its first item: what was saved of it, from which this host goes on
  HostId begun_by;           // the host that began that item
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
  double rate = 0;              // R1, hint units per second and slot; 0 unknown
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

struct Decision {
  Timestamp at;
  HostId host;
  UnitId unit;
  std::string
      kind;  // name_of(UnitKind), or cut, cancel, stall, expire, omit, set-aside, dispute, resolve, park
  Range range;
  std::string reason;
};

// What an event changed; the caller stores it in the same transaction.
struct Changes {
  std::vector<UnitId> units;  // created or changed
  std::vector<HostId> hosts;  // records changed
  std::vector<Decision> decisions;
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
  UnitId unit;       // the id to use if a unit is handed out
  // Where a mapping strategy governs: what it planned for this slot (nothing: an empty range), instead of
  // what the sizing strategy would say of the free pool; and why.
  std::optional<Range> planned = {};
  std::string planned_reason = {};
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

// Progress of a stage, for people.
struct StageCounts {
  std::int64_t items = 0, accepted = 0, free = 0, handed_out = 0, set_aside = 0;
  double cost = 0, cost_accepted = 0, cost_wasted = 0;
  std::int64_t units = 0, open_units = 0, splits = 0, recovered = 0, copies = 0, disputes = 0;
  std::int64_t givers = 0;        // hosts that items were accepted from
  double rate = 0;                // sum of the rates of the hosts now running
  double remaining_seconds = -1;  // at that rate; negative: unknown
};

struct StageState;  // state.h, internal

class Stage {
 public:
  // REQUIRES: 1 <= items; costs empty or one positive number an item; setup.sizing parses.
  explicit Stage(StageSetup setup);
  ~Stage();
  Stage(Stage&&) noexcept;
  Stage& operator=(Stage&&) noexcept;

  // Restores what was stored, before any event. Open units count as heard of at `now`.
  void restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
               const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside, Timestamp now);

  // A closed unit that the caller stored and this object does not hold any more (after a restart, or much
  // later): from now on its host's late commits are judged as if it had never been forgotten. Nothing happens
  // if it is known.
  void remember(const Unit& unit);

  // Who waits for work as the stage begins, before any of them asks it.
  void expect(const std::vector<IdleHost>& hosts);

  // A host asks for work for one slot. At most one unit.
  [[nodiscard]] Grant request(const Requester& requester, Timestamp now, Changes& changes);
  // A host says how a unit stands (heartbeat, or with a request). The answer is the order for that unit.
  [[nodiscard]] protocol::UnitOrder report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                           Changes& changes);
  // What commit() would answer, without changing anything: ask before validating and storing the bytes.
  [[nodiscard]] CommitOutcome preview_commit(HostId host, UnitId unit, Range range) const;
  // What a host saved of its item in progress is kept (`share` of it is done), and no less of it than was
  // kept before: units that start with the item go on from there (Unit::begun_share). False: it is of no use.
  bool save(HostId host, UnitId unit, std::int64_t item, double share);
  // A stored, valid segment. `last`: the host says the unit is finished.
  [[nodiscard]] CommitOutcome commit(HostId host, UnitId unit, Range range, bool last, Timestamp now,
                                     Changes& changes);
  // The kernel failed, or the host gives the unit back (leaves). `failed`: counts towards setting aside.
  enum class GiveBack { failed, returned };
  void give_back(HostId host, UnitId unit, GiveBack why, std::int64_t item, const std::string& reason,
                 Timestamp now, Changes& changes);
  void host_left(HostId host, const std::string& reason, Timestamp now, Changes& changes);  // left or revoked
  // Leases that ran out, omission. Call about once a second.
  void tick(Timestamp now, Changes& changes);

  // Items of `range`, accepted from one host, differ from what `hosts` (two or more) delivered: ask another.
  void dispute(Range range, const std::vector<HostId>& hosts, Timestamp now, Changes& changes);
  // A third opinion decided the dispute over `range` (or it is given up: set aside).
  void resolve(Range range, bool decided, Timestamp now, Changes& changes);
  // Accepted items turned out wrong: they are free again (a host was found to lie).
  void reject(Range range, const std::string& reason, Timestamp now, Changes& changes);
  // The manager says that no more items are needed.
  void enough(Timestamp now, Changes& changes);

  // Switches rules while running; no unit is lost.
  [[nodiscard]] Status set_sizing(const std::string& text);
  void set_straggler(Straggler rule);

  [[nodiscard]] bool complete() const;  // everything accepted (or enough), no dispute open
  [[nodiscard]] bool has_work_for(HostId host,
                                  Timestamp now) const;         // cheap; may be wrong in the endgame only
  [[nodiscard]] double heartbeat_seconds(Timestamp now) const;  // R4, paced
  [[nodiscard]] const Unit* unit(UnitId id) const;              // open ones, and closed ones for a while
  [[nodiscard]] std::vector<const Unit*> open_units() const;
  [[nodiscard]] const HostRecord* host(HostId id) const;
  [[nodiscard]] std::vector<const HostRecord*> hosts() const;
  [[nodiscard]] const RangeSet& accepted() const;
  [[nodiscard]] const RangeSet& free() const;
  [[nodiscard]] const RangeSet& set_aside() const;
  [[nodiscard]] double cost(Range range) const;
  [[nodiscard]] std::vector<SlotView> slots_on(Timestamp now) const;
  [[nodiscard]] StageCounts counts(Timestamp now) const;
  // Aborts, with what is wrong, if an invariant does not hold. Costs O(units + ranges).
  void check_invariants() const;
  // The same of what an event changed, and the sums of items. Costs O(log n) a unit.
  void check_changed(const Changes& changes) const;

 private:
  std::unique_ptr<StageState> state_;
};

}  // namespace gleaner::policy
