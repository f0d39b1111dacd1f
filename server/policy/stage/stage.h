// One stage of one problem as the scheduler sees it: which items are free, held and accepted, who holds what,
// and what to do when a host asks, reports, delivers, fails or falls silent. It is told events (events.h) and
// answers them. Pure: `now` is an argument, unit ids come from the caller, there is no I/O; the service
// stores what `Changes` names, the simulator does the same in memory.
//
// With free items, the sizing strategy says how many of them the host gets. With none, the straggler rule:
// `split`, the default, re-covers what stalled holders keep, splits what would end last, and copies what
// cannot be split; the others are of the literature, for comparison. server/policy/POLICY.md has the rules,
// R1-R8. Only idle slots get work then: a slot that asks ahead is served from the free pool alone.
//
// Invariants, checked by check_invariants(): free + held + accepted + set aside = N as item sets (held =
// covered by an open unit and not accepted); a unit has one host; copies of an item are on different hosts,
// and no more of them than allowed; accepted never shrinks except where a dispute is decided against it;
// sizes are >= 1.
//
// Cost: O(log n) a report, commit or request, plus the ranges touched; in the endgame a request looks at the
// 64 latest units. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/policy/ledger/ledger.h"
#include "server/policy/stage/events.h"

namespace gleaner::policy {

struct StageState;  // state.h, internal

class Stage {
 public:
  // REQUIRES: 1 <= items; costs empty or one positive number an item; setup.sizing parses.
  explicit Stage(StageSetup setup);
  ~Stage();
  Stage(Stage&&) noexcept;
  Stage& operator=(Stage&&) noexcept;

  // ---- Events. What they change is added to `changes`, each unit and host once.
  void apply(const RestoreEvent& event, Timestamp now);
  void apply(const RememberEvent& event, Timestamp now);
  void apply(const ExpectEvent& event, Timestamp now);
  void apply(const AdmitRelayEvent& event, Timestamp now);
  void apply(const BringEvent& event, Timestamp now);
  [[nodiscard]] Grant apply(const RequestEvent& event, Timestamp now, Changes& changes);
  [[nodiscard]] protocol::UnitOrder apply(const ReportEvent& event, Timestamp now, Changes& changes);
  [[nodiscard]] protocol::UnitOrder apply(const RelayReportEvent& event, Timestamp now, Changes& changes);
  [[nodiscard]] CommitOutcome apply(const CommitEvent& event, Timestamp now, Changes& changes);
  // False: what was saved is of no use.
  [[nodiscard]] bool apply(const SaveEvent& event, Timestamp now);
  void apply(const GiveBackEvent& event, Timestamp now, Changes& changes);
  void apply(const HostLeftEvent& event, Timestamp now, Changes& changes);
  void apply(const TickEvent& event, Timestamp now, Changes& changes);
  void apply(const DisputeEvent& event, Timestamp now, Changes& changes);
  void apply(const ResolveEvent& event, Timestamp now, Changes& changes);
  void apply(const RejectEvent& event, Timestamp now, Changes& changes);
  void apply(const TakeAwayEvent& event, Timestamp now, Changes& changes);
  void apply(const EnoughEvent& event, Timestamp now, Changes& changes);
  // invalid: there is no such strategy, or rule.
  [[nodiscard]] Status apply(const SizingEvent& event, Timestamp now);
  [[nodiscard]] Status apply(const StragglerEvent& event, Timestamp now);

  // What a CommitEvent would be answered, without changing anything: ask before validating and storing bytes.
  [[nodiscard]] CommitOutcome preview_commit(HostId host, UnitId unit, Range range) const;
  // What that host delivered of `range` was of no use, as a verdict found it wrong; or of use after all,
  // though somebody else's had been accepted when it came. Counted as wasted or not: no decision follows from
  // it.
  enum class Use { none, after_all };
  void count_use(HostId host, Range range, Use use, Changes& changes);

  [[nodiscard]] bool complete() const;  // everything accepted (or enough), no dispute open
  [[nodiscard]] bool has_work_for(HostId host,
                                  Timestamp now) const;         // cheap; may be wrong in the endgame only
  [[nodiscard]] double heartbeat_seconds(Timestamp now) const;  // R4
  [[nodiscard]] const Unit* unit(UnitId id) const;              // open ones, and closed ones for a while
  // Asks the processor's cache for what events of that unit look at. Changes nothing.
  void fetch(UnitId id) const;
  [[nodiscard]] std::vector<const Unit*> open_units() const;
  [[nodiscard]] const HostRecord* host(HostId id) const;
  [[nodiscard]] std::vector<const HostRecord*> hosts() const;
  [[nodiscard]] const Ledger& ledger() const;  // items: free, accepted, set aside; what they cost
  [[nodiscard]] std::vector<SlotView> slots_on(Timestamp now) const;
  [[nodiscard]] StageCounts counts(Timestamp now) const;
  // When all that is held of `range` is delivered, as far as is known: seconds; what is free is not counted.
  [[nodiscard]] double seconds_held(Range range, Timestamp now) const;
  // How long the whole stage takes at the present rates, or as a relay's parent said; 0: nothing is known.
  [[nodiscard]] double seconds_in_all() const;
  // Aborts, with what is wrong, if an invariant does not hold. Costs O(units + ranges).
  void check_invariants() const;
  // The same of what an event changed, and the sums of items. Costs O(log n) a unit.
  void check_changed(const Changes& changes) const;

 private:
  friend std::vector<OpenQuestion> open_questions(const Stage& stage);
  std::unique_ptr<StageState> state_;
};

// What disputes and audits wait for.
[[nodiscard]] std::vector<OpenQuestion> open_questions(const Stage& stage);

}  // namespace gleaner::policy
