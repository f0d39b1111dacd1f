// Disputes: items for which two hosts delivered different results. A third host computes them again; what it
// delivers overlaps accepted items, so the caller compares and decides, or asks for yet another.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

std::string propose_check(const StageState& stage, const Requester& requester, Timestamp now,
                          const Take& take) {
  for (std::size_t i = 0; i < stage.checks.size(); ++i) {
    const Check& check = stage.checks[i];
    const bool again = check.unit.valid();
    if (again) {
      const auto holder = stage.units.open().find(check.unit);
      if (holder != stage.units.open().end() && holder->second.live()) continue;
    }
    if (requester.stranger && now < check.strangers_until) continue;
    if (std::find(check.asked.begin(), check.asked.end(), requester.host) != check.asked.end()) continue;
    Proposal opinion{UnitKind::check, check.range};
    opinion.reason = stage.because("another opinion beside those of {} hosts", check.asked.size());
    opinion.check = i;
    if (take(opinion)) break;
  }
  return {};
}

// The unit that computed a check has ended. If it delivered, the caller compares and decides, or disputes
// again; if not, somebody else is asked.
void StageState::check_closed(UnitId unit, bool delivered, HostId host) {
  if (delivered) {
    checks.erase(
        std::remove_if(checks.begin(), checks.end(), [&](const Check& check) { return check.unit == unit; }),
        checks.end());
    return;
  }
  for (Check& check : checks) {
    if (check.unit != unit) continue;
    check.unit = {};
    if (std::find(check.asked.begin(), check.asked.end(), host) == check.asked.end())
      check.asked.push_back(host);
  }
}

// Checks inside `range` are over; their units too.
void StageState::drop_checks(Range range, Timestamp now, Changes& changes) {
  std::vector<UnitId> over;
  std::vector<Check> kept;
  for (Check& check : checks) {
    if (!check.range.overlaps(range)) {
      kept.push_back(std::move(check));
      continue;
    }
    for (const Range rest : {Range{check.range.begin, range.begin}, Range{range.end, check.range.end}}) {
      if (!rest.empty())
        kept.push_back(
            {rest, check.asked, check.strangers_until, range.contains(check.range) ? UnitId{} : check.unit});
    }
    if (check.unit.valid() && range.contains(check.range)) over.push_back(check.unit);
  }
  checks = std::move(kept);
  for (const UnitId unit : over) {
    if (units.open().contains(unit)) close(unit, UnitState::cancelled, "the dispute is over", now, changes);
  }
}

std::vector<OpenQuestion> open_questions(const Stage& stage) {
  const auto& open = stage.state_->units.open();
  std::vector<OpenQuestion> questions;
  for (const Check& check : stage.state_->checks) {
    const auto holder = open.find(check.unit);
    questions.push_back(
        {check.range, check.asked, check.strangers_until, holder != open.end() && holder->second.live()});
  }
  return questions;
}

void Stage::apply(const DisputeEvent& event, Timestamp now, Changes& changes) {
  const auto& [range, hosts, unasked] = event;
  StageState& state = *state_;
  std::vector<HostId> settled = hosts;
  settled.insert(settled.end(), unasked.hosts.begin(), unasked.hosts.end());
  state.drop_checks(range, now, changes);
  for (const Range part : state.ledger.accepted().within(range)) {
    state.ledger.dispute(part);
    state.checks.push_back({part, settled, unasked.strangers_until, {}});
    if (hosts.size() < 2) {
      state.decide(changes, now, hosts.front(), {}, "audit", part, "another host computes them, too");
      continue;
    }
    ++state.totals.disputes;
    state.decide(changes, now, {}, {}, "dispute", part,
                 state.because("{} hosts delivered different results", hosts.size()));
  }
  tidy(changes);
}

void Stage::apply(const ResolveEvent& event, Timestamp now, Changes& changes) {
  const auto& [range, decided] = event;
  StageState& state = *state_;
  state.drop_checks(range, now, changes);
  if (decided) {
    state.ledger.end_dispute(range);
  } else {
    for (const Range part : state.ledger.accepted().within(range))
      state.decide(changes, now, {}, {}, "set-aside", part, "no two hosts agree on these items");
    state.ledger.give_up(range);
  }
  state.decide(changes, now, {}, {}, "resolve", range, decided ? "the opinions decide" : "given up");
  tidy(changes);
}

void Stage::apply(const RejectEvent& event, Timestamp now, Changes& changes) {
  const auto& [range, reason] = event;
  StageState& state = *state_;
  state.drop_checks(range, now, changes);
  for (const Range part : state.ledger.accepted().within(range))
    state.decide(changes, now, {}, {}, "reject", part, reason);
  state.ledger.reject(range);
  tidy(changes);
}

void Stage::count_use(HostId host, Range range, Use use, Changes& changes) {
  double cost = state_->ledger.costs().of(range);
  auto& record = state_->clock.host(host).record;
  // Whether it was counted when it came is inferred (reviews.cpp): no more is taken back than the host has.
  if (use == Use::after_all) cost = -std::min(cost, record.cost_wasted);
  record.cost_wasted += cost;
  state_->totals.wasted_cost += cost;
  changes.hosts.push_back(host);
  tidy(changes);
}

}  // namespace gleaner::policy
