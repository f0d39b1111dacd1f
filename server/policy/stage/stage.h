// One stage of one problem as the scheduler sees it: which items are free, held and accepted, who holds what,
// and what to do when a host asks, reports, delivers, fails or falls silent. Pure: `now` is an argument, unit
// ids come from the caller, there is no I/O; the service stores what `Changes` names, the simulator does the
// same in memory.
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
#include "server/policy/stage/exchange.h"

namespace gleaner::policy {

struct StageState;  // state.h, internal

class Stage {
 public:
  // REQUIRES: 1 <= items; costs empty or one positive number an item; setup.sizing parses.
  explicit Stage(StageSetup setup);
  ~Stage();
  Stage(Stage&&) noexcept;
  Stage& operator=(Stage&&) noexcept;

  // Restores what was stored, before any event. Open units count as heard of at `now`. `undecided`: what is
  // set aside because no two hosts agreed, so that late results of it change nothing.
  void restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
               const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside,
               const std::vector<Range>& undecided, Timestamp now);

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
  // The same of a unit that a relay holds.
  [[nodiscard]] protocol::UnitOrder report(HostId host, const RelayReport& report, Timestamp now,
                                           Changes& changes);
  // What commit() would answer, without changing anything: ask before validating and storing the bytes.
  [[nodiscard]] CommitOutcome preview_commit(HostId host, UnitId unit, Range range) const;
  // What a host saved of its item in progress is kept (`share` of it is done), and no less of it than was
  // kept before: units that start with the item go on from there (Unit::begun_share). False: it is of no use.
  bool save(HostId host, UnitId unit, std::int64_t item, double share);
  // A stored, valid segment. `last`: the host says the unit is finished.
  [[nodiscard]] CommitOutcome commit(HostId host, UnitId unit, Range range, bool last, Timestamp now,
                                     Changes& changes);
  // The kernel failed, or the host gives the unit back (leaves). `failed`: the host gets `item` no more while
  // others may have it. `set_aside`: nobody gets it any more (whoever calls knows whom to blame: blame.h).
  // What it computed before `item` and has not delivered is waste.
  enum class GiveBack { failed, returned, set_aside };
  void give_back(HostId host, UnitId unit, GiveBack why, std::int64_t item, const std::string& reason,
                 Timestamp now, Changes& changes);
  void host_left(HostId host, const std::string& reason, Timestamp now, Changes& changes);  // left or revoked

  // ---- Relays [server/policy/relay/RELAYS.md]
  // That host is a relay: it delivers any part of its units, not only from their beginning on. Its requests
  // and reports say so, too; before its first commit, and again after restore().
  void admit_relay(HostId host);
  // This stage is a relay's: its parent leased `range` to it, and takes it away again. Who holds some of what
  // is taken away ends before it; what was computed of it is welcome for as long as the parent lacks it.
  // `seconds`: that the whole stage takes, the parent says; 0: it does not know.
  void bring(Range range, double seconds);
  void take_away(Range range, const std::string& reason, Timestamp now, Changes& changes);

  // Leases that ran out, omission. Call about once a second.
  void tick(Timestamp now, Changes& changes);

  // Another host than `hosts` is to compute the accepted items of `range`: their results differ, or what the
  // only one delivered is audited.
  void dispute(Range range, const std::vector<HostId>& hosts, Timestamp now, Changes& changes,
               const Unasked& unasked = {});
  // A third opinion decided the dispute over `range` (or it is given up: set aside).
  void resolve(Range range, bool decided, Timestamp now, Changes& changes);
  // Accepted items turned out wrong: they are free again (a host was found to lie).
  void reject(Range range, const std::string& reason, Timestamp now, Changes& changes);
  // What that host delivered of `range` was of no use, as a verdict found it wrong; or of use after all,
  // though somebody else's had been accepted when it came. Counted as wasted or not, and nothing else.
  enum class Use { none, after_all };
  void count_use(HostId host, Range range, Use use, Changes& changes);
  // The manager says that no more items are needed.
  void enough(Timestamp now, Changes& changes);

  // Switches rules while running; no unit is lost.
  [[nodiscard]] Status set_sizing(const std::string& text);
  void set_straggler(Straggler rule);

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
