// The items of one stage: which are free, held and by which units, accepted, disputed, set aside. The only
// place that moves an item from one to another; it knows neither hosts' speeds nor rules. Value semantics of
// its own invariant, checked by check(): free + held + accepted + set aside + elsewhere + not needed = all
// items, where an item that is free or elsewhere is nothing else, and disputed items are accepted ones.
// Elsewhere are the items of a relay's stage that its parent has not leased to it.
//
// What nobody holds and nobody delivered is free again (release()), and ranges that were given back are
// handed out first, the latest of them before others, then plain order (locality). An item that made a kernel
// fail is handed out alone, and to a host that failed on it only when all hosts have.
//
// Cost: O(log n) a change, plus the ranges touched. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "server/policy/ledger/costs.h"
#include "server/policy/ledger/cover.h"
#include "server/policy/ledger/free_by_cost.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

class Ledger {
 public:
  // Whether a host is on that is none of these, which failed on an item.
  using OthersOn = std::function<bool(const std::set<HostId>& failed)>;

  // All items are free, or all are elsewhere. REQUIRES: as Costs.
  Ledger(std::int64_t items, const std::vector<double>& hints, bool elsewhere = false);
  Ledger(const Ledger&) = delete;  // by_cost() points into it
  Ledger& operator=(const Ledger&) = delete;

  // ---- What is
  [[nodiscard]] const Costs& costs() const { return costs_; }
  [[nodiscard]] std::int64_t items() const { return costs_.items(); }
  [[nodiscard]] const RangeSet& accepted() const { return accepted_; }
  [[nodiscard]] const RangeSet& free() const { return free_; }
  [[nodiscard]] const RangeSet& set_aside() const { return set_aside_; }
  [[nodiscard]] const RangeSet& undecided() const { return undecided_; }  // of these, what give_up() said
  [[nodiscard]] const RangeSet& disputed() const { return disputed_; }    // open, of the accepted
  [[nodiscard]] const RangeSet& elsewhere() const { return elsewhere_; }
  [[nodiscard]] double here_cost() const { return costs_.total() - elsewhere_cost_; }  // of all others
  [[nodiscard]] double free_cost() const { return free_cost_; }
  [[nodiscard]] double accepted_cost() const { return accepted_cost_; }
  [[nodiscard]] const Cover& cover() const { return cover_; }
  [[nodiscard]] std::int64_t held() const;  // items that are handed out
  // All that are not elsewhere accepted, no dispute open; or no more are needed.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool ended() const { return ended_; }
  // Parts of `range` that a commit would be the first to bring: not accepted, and not given up as undecided.
  [[nodiscard]] std::vector<Range> wanted(Range range) const;

  // ---- The free pool
  // The next items for a host, in order; empty: none that it may have. allowed(): what it may have of a range
  // in one unit, which is a part of one lease.
  [[nodiscard]] Range next_free(HostId host, const OthersOn& others) const;
  [[nodiscard]] Range allowed(Range range, HostId host, const OthersOn& others) const;
  void forget_taken();  // hints to ranges that are not free any more; before next_free()
  // The free items by cost; kept from the first call of sort_free() on, null before.
  void sort_free();
  [[nodiscard]] const FreeByCost* by_cost() const { return by_cost_ ? &*by_cost_ : nullptr; }

  // ---- What changes
  void hold(UnitId unit, Range range);    // a unit has them from now on, and others may have, too
  void let_go(UnitId unit, Range range);  // it has not any more; see release()
  void release(Range range);              // what nobody holds and nobody delivered is free
  void accept(Range range);
  void put_aside(Range range);  // of what is not accepted
  void bring(Range range);      // a lease: what is elsewhere of it is free
  // What is neither accepted nor set aside of it is elsewhere. REQUIRES: nobody holds any of that.
  void take_away(Range range);
  void dispute(Range range);      // of accepted items
  void end_dispute(Range range);  // decided
  void give_up(Range range);      // accepted items that nobody could decide: set aside for good
  void gave_up(Range range);      // of what is set aside (after a restart): it was given up so
  void reject(Range range);       // accepted items turned out wrong: they are free, unless somebody has them
  void end();                     // what is not accepted or set aside by now is not needed any more
  // A kernel failed at that item, which is neither accepted nor set aside.
  void fail(std::int64_t item, HostId host);

  // Aborts if the invariant does not hold. O(ranges).
  void check() const;
  // The same by sums: items that are not held are no more than all. `all`: nothing is held.
  void check_sums(bool all) const;

 private:
  void add_free(Range range);
  void remove_free(Range range);
  [[nodiscard]] std::vector<Range> unaccept(Range range);  // what was accepted of it
  [[nodiscard]] Range in_one_lease(Range range) const;     // its beginning
  [[nodiscard]] bool may_take(std::int64_t item, HostId host, const OthersOn& others) const;

  Costs costs_;
  void remove_elsewhere(Range range);

  RangeSet accepted_, free_, set_aside_, undecided_, disputed_, dropped_, elsewhere_;
  double free_cost_ = 0, accepted_cost_ = 0, elsewhere_cost_ = 0;
  std::vector<Range> returned_;   // most recent last: hints into free_
  std::set<std::int64_t> seams_;  // where leases begin and end
  std::map<std::int64_t, std::set<HostId>> failures_;
  std::optional<FreeByCost> by_cost_;
  Cover cover_;
  bool ended_ = false;
};

}  // namespace gleaner::policy
