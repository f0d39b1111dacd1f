#include "server/policy/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// Ranges looked at for a host that may not have some; more than any real mixture of failures needs.
constexpr int ranges_looked_at = 256;

}  // namespace

Ledger::Ledger(std::int64_t items, const std::vector<double>& hints, bool elsewhere) : costs_(items, hints) {
  const Range all{0, items};
  if (elsewhere) {
    elsewhere_.add(all);
    elsewhere_cost_ = costs_.total();
  } else {
    add_free(all);
  }
}

// ---- What is

std::int64_t Ledger::held() const {
  return items() - accepted_.total() - free_.total() - set_aside_.total() - elsewhere_.total() -
         dropped_.total();
}

bool Ledger::complete() const {
  return ended_ || (accepted_.total() + elsewhere_.total() == items() && disputed_.empty());
}

std::vector<Range> Ledger::wanted(Range range) const {
  std::vector<Range> wanted = accepted_.missing(range);
  if (undecided_.empty()) return wanted;
  for (const Range part : std::exchange(wanted, {})) {
    for (const Range open : undecided_.missing(part)) wanted.push_back(open);
  }
  return wanted;
}

// ---- The free pool

void Ledger::add_free(Range range) {
  free_.visit_missing(range, [&](Range part) { free_cost_ += costs_.of(part); });
  free_.add(range);
  if (by_cost_) by_cost_->add(range);
}

void Ledger::remove_free(Range range) {
  if (!free_.overlaps(range)) return;
  free_.visit_within(range, [&](Range part) { free_cost_ -= costs_.of(part); });
  free_.remove(range);
  if (by_cost_) by_cost_->remove(range);
  if (free_.empty()) free_cost_ = 0;
}

void Ledger::remove_elsewhere(Range range) {
  if (!elsewhere_.overlaps(range)) return;
  elsewhere_.visit_within(range, [&](Range part) { elsewhere_cost_ -= costs_.of(part); });
  elsewhere_.remove(range);
  if (elsewhere_.empty()) elsewhere_cost_ = 0;
}

void Ledger::sort_free() {
  if (!by_cost_) by_cost_.emplace(costs_, free_);
}

bool Ledger::may_take(std::int64_t item, HostId host, const OthersOn& others) const {
  const auto found = failures_.find(item);
  return found == failures_.end() || !found->second.contains(host) || !others(found->second);
}

Range Ledger::allowed(Range range, HostId host, const OthersOn& others) const {
  range = in_one_lease(range);
  if (failures_.empty()) return range;
  for (int looked = 0; looked < ranges_looked_at && !range.empty(); ++looked) {
    const auto suspect = failures_.lower_bound(range.begin);
    if (suspect == failures_.end() || suspect->first >= range.end) return range;
    if (suspect->first > range.begin) return {range.begin, suspect->first};
    if (may_take(range.begin, host, others)) return {range.begin, range.begin + 1};
    ++range.begin;
  }
  return {range.begin, range.begin};
}

Range Ledger::in_one_lease(Range range) const {
  const auto seam = seams_.upper_bound(range.begin);
  return {range.begin, seam == seams_.end() ? range.end : std::min(range.end, *seam)};
}

void Ledger::forget_taken() {
  while (!returned_.empty() && !free_.overlaps(returned_.back())) returned_.pop_back();
}

Range Ledger::next_free(HostId host, const OthersOn& others) const {
  if (!returned_.empty()) {
    for (const Range range : free_.within(returned_.back())) {
      if (const Range part = allowed(range, host, others); !part.empty()) return part;
    }
  }
  if (failures_.empty()) return in_one_lease(free_.front());
  int looked = 0;
  for (const Range range : free_.ranges()) {
    for (Range rest = range; !rest.empty(); rest.begin = in_one_lease(rest).end) {
      if (const Range part = allowed(rest, host, others); !part.empty()) return part;
      if (++looked == ranges_looked_at) return {};
    }
  }
  return {};
}

// ---- What changes

void Ledger::hold(UnitId unit, Range range) {
  remove_free(range);
  cover_.add(unit, range);
}

void Ledger::let_go(UnitId unit, Range range) {
  cover_.remove(unit, range);
}

void Ledger::release(Range range) {
  if (ended_) return;
  cover_.visit_gaps(range, [&](Range gap) {
    accepted_.visit_missing(gap, [&](Range lacking) {
      set_aside_.visit_missing(lacking, [&](Range part) {
        elsewhere_.visit_missing(part, [&](Range here) {
          add_free(here);
          returned_.push_back(here);
        });
      });
    });
  });
}

void Ledger::accept(Range range) {
  accepted_.visit_missing(range, [&](Range part) { accepted_cost_ += costs_.of(part); });
  accepted_.add(range);
  remove_free(range);
  remove_elsewhere(range);
  set_aside_.remove(range);
  if (!failures_.empty())
    failures_.erase(failures_.lower_bound(range.begin), failures_.lower_bound(range.end));
}

void Ledger::put_aside(Range range) {
  for (const Range part : accepted_.missing(range)) {
    set_aside_.add(part);
    remove_free(part);
    remove_elsewhere(part);
    failures_.erase(failures_.lower_bound(part.begin), failures_.lower_bound(part.end));
  }
}

void Ledger::bring(Range range) {
  seams_.erase(seams_.lower_bound(range.begin), seams_.upper_bound(range.end));  // of leases before
  seams_.insert({range.begin, range.end});
  for (const Range part : elsewhere_.within(range)) {
    remove_elsewhere(part);
    add_free(part);
  }
}

void Ledger::take_away(Range range) {
  if (ended_) return;
  for (const Range lacking : accepted_.missing(range)) {
    for (const Range part : set_aside_.missing(lacking)) {
      CHECK_TRUE(!cover_.overlaps(part));
      remove_free(part);
      elsewhere_.visit_missing(part, [&](Range here) { elsewhere_cost_ += costs_.of(here); });
      elsewhere_.add(part);
    }
  }
}

void Ledger::dispute(Range range) {
  CHECK_TRUE(accepted_.contains(range));
  disputed_.add(range);
}

void Ledger::end_dispute(Range range) {
  disputed_.remove(range);
}

std::vector<Range> Ledger::unaccept(Range range) {
  disputed_.remove(range);
  std::vector<Range> parts = accepted_.within(range);
  for (const Range part : parts) {
    accepted_.remove(part);
    accepted_cost_ -= costs_.of(part);
  }
  return parts;
}

void Ledger::give_up(Range range) {
  for (const Range part : unaccept(range)) {
    set_aside_.add(part);
    undecided_.add(part);
  }
}

void Ledger::gave_up(Range range) {
  for (const Range part : set_aside_.within(range)) undecided_.add(part);
}

void Ledger::reject(Range range) {
  for (const Range part : unaccept(range)) release(part);
}

void Ledger::end() {
  ended_ = true;
  disputed_.clear();
  const Range all{0, items()};
  remove_elsewhere(all);
  for (const Range part : accepted_.missing(all)) {
    for (const Range rest : set_aside_.missing(part)) dropped_.add(rest);
  }
  remove_free(all);
}

void Ledger::fail(std::int64_t item, HostId host) {
  failures_[item].insert(host);
}

// ---- What must hold

void Ledger::check() const {
  RangeSet all = accepted_;
  for (const Range range : disputed_.ranges()) CHECK_TRUE(accepted_.contains(range));
  const RangeSet held = cover_.held();
  for (const Range range : free_.ranges()) {
    CHECK_TRUE(!accepted_.overlaps(range) && !held.overlaps(range) && !set_aside_.overlaps(range));
    all.add(range);
  }
  for (const Range range : set_aside_.ranges()) {
    CHECK_TRUE(!accepted_.overlaps(range));
    all.add(range);
  }
  for (const Range range : held.ranges()) all.add(range);
  for (const Range range : elsewhere_.ranges()) {
    CHECK_TRUE(!accepted_.overlaps(range) && !held.overlaps(range) && !set_aside_.overlaps(range) &&
               !free_.overlaps(range));
    all.add(range);
  }
  for (const Range range : dropped_.ranges()) all.add(range);
  CHECK_TRUE(all.total() == items() && all.count() == 1 && all.front() == (Range{0, items()}));
  if (by_cost_) CHECK_TRUE(by_cost_->agrees_with(free_));
}

void Ledger::check_sums(bool all) const {
  const std::int64_t not_held =
      free_.total() + accepted_.total() + set_aside_.total() + elsewhere_.total() + dropped_.total();
  CHECK_TRUE(not_held <= items() && (!all || not_held == items()));
}

}  // namespace gleaner::policy
