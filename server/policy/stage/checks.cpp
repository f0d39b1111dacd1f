// Disputes: items for which two hosts delivered different results. A third host computes them again; what it
// delivers overlaps accepted items, so the caller compares and decides, or asks for yet another.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

Grant StageState::grant_check(const Requester& requester, Timestamp now, Changes& changes) {
  for (Check& check : checks) {
    if (check.unit.valid()) {
      const auto holder = open.find(check.unit);
      if (holder != open.end() && holder->second.live()) continue;
    }
    if (std::find(check.asked.begin(), check.asked.end(), requester.host) != check.asked.end()) continue;
    if (check.unit.valid())
      check.asked.push_back(open.at(check.unit).unit.host);  // stalled: its result may still come
    check.unit = requester.unit;
    open_unit(requester, UnitKind::check, check.range, {},
              because("{} hosts disagree on these items", check.asked.size()), now, changes);
    return {requester.unit, 0, {}};
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
        kept.push_back({rest, check.asked, range.contains(check.range) ? UnitId{} : check.unit});
    }
    if (check.unit.valid() && range.contains(check.range)) over.push_back(check.unit);
  }
  checks = std::move(kept);
  for (const UnitId unit : over) {
    if (open.contains(unit)) close(unit, UnitState::cancelled, "the dispute is over", now, changes);
  }
}

void Stage::dispute(Range range, const std::vector<HostId>& hosts, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  state.drop_checks(range, now, changes);
  for (const Range part : state.accepted.within(range)) {
    state.disputed.add(part);
    state.checks.push_back({part, hosts, {}});
    ++state.disputes_seen;
    state.decide(changes, now, {}, {}, "dispute", part,
                 state.because("{} hosts delivered different results", hosts.size()));
  }
  tidy(changes);
}

void Stage::resolve(Range range, bool decided, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  state.drop_checks(range, now, changes);
  state.disputed.remove(range);
  if (!decided) {
    for (const Range part : state.accepted.within(range)) {
      state.accepted.remove(part);
      state.accepted_cost -= state.costs.of(part);
      state.set_aside.add(part);
      state.undecided.add(part);
      state.decide(changes, now, {}, {}, "set-aside", part, "no two hosts agree on these items");
    }
  }
  state.decide(changes, now, {}, {}, "resolve", range, decided ? "the majority decided" : "given up");
  tidy(changes);
}

void Stage::reject(Range range, const std::string& reason, Timestamp now, Changes& changes) {
  StageState& state = *state_;
  state.drop_checks(range, now, changes);
  state.disputed.remove(range);
  const std::vector<Range> parts = state.accepted.within(range);
  for (const Range part : parts) {
    state.accepted.remove(part);
    state.accepted_cost -= state.costs.of(part);
    state.release(part);
    state.decide(changes, now, {}, {}, "reject", part, reason);
  }
  tidy(changes);
}

}  // namespace gleaner::policy
