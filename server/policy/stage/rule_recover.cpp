// What stalled holders keep goes to others, from the tail: each request takes the next piece from the end,
// and a holder that comes back still finishes what is left of its unit [server/policy/POLICY.md, R6].
#include <algorithm>

#include "server/policy/stage/copier.h"

namespace gleaner::policy {
namespace {

// What a stalled holder keeps, from where another host would go on.
Range rest_of(const StageState& stage, const Held& held) {
  const bool silent = held.watch.silent;
  const Unit& unit = held.unit;
  Range rest;
  stage.ledger.accepted().visit_missing(held.rest(), [&](Range lacking) { rest = lacking; });
  const bool believed = !silent && !held.watch.withholds;
  if (believed && unit.finished < rest.end) rest.begin = std::max(rest.begin, unit.finished);
  // An item that takes long is not thrown away: it stays with its holder, and may be copied later.
  if (believed && rest.size() > 1 && rest.begin == unit.finished &&
      stage.items.overlong(rest.begin, unit.host))
    ++rest.begin;
  return rest;
}

// Its tail, of `work` at most.
Proposal recovery(const StageState& stage, const Requester& requester, const Held& held, Range rest,
                  double work, Timestamp now) {
  const Costs& costs = stage.ledger.costs();
  const Unit& unit = held.unit;
  const char* what = held.watch.silent                              ? "silent"
                     : unit.run_state == protocol::RunState::paused ? "paused"
                                                                    : "standing still";
  std::int64_t from = costs.tail_worth(rest, work);
  from = std::min(from, rest.end - 1);
  Proposal recovery{UnitKind::recover, {from, rest.end}};
  recovery.of = unit.group;
  recovery.cut_at = from;
  recovery.work = costs.of(recovery.range);
  const std::string why = stage.because("host {} has been {} for {:.1f} s", unit.host.value, what,
                                        std::max(0.0, seconds_between(held.watch.stalled_since, now)));
  recovery.cut_reason = stage.because("{}; host {} takes over", why, requester.host.value);
  recovery.reason = stage.because("{}: {} of its last {} items", why, recovery.range.size(), rest.size());
  return recovery;
}

}  // namespace

std::string propose_recovery(const StageState& stage, const Requester& requester, Timestamp now,
                             const Take& take) {
  const EndgameRules rules = stage.pace();
  const double rate = stage.clock.rate(requester.host), fleet_rate = stage.clock.fleet().rate_on();
  double work = stage.ledger.costs().total();  // no rate known: all of it
  if (rate > 0 && fleet_rate > 0) {
    work =
        rate * std::clamp(stage.forecast.stalled_cost() / fleet_rate, rules.unit_minimum, rules.unit_maximum);
  }
  const Copier copier(stage, requester, now, take);
  int looked = 0;
  for (const auto& [since, stalled] : stage.forecast.stalled()) {
    if (++looked > numbers::looked_at) break;
    const Group& group = *stalled;
    if (holds_any(group, requester.host) || static_cast<int>(group.members.size()) >= rules.holders_max)
      continue;
    if (std::any_of(group.members.begin(), group.members.end(), [&](const Held* member) {
          return HostClock::only_delivery_missing(*member, now, rules);
        }))
      continue;
    // The member that has the most left holds all that the others hold.
    const Held& held = **std::min_element(
        group.members.begin(), group.members.end(),
        [](const Held* a, const Held* b) { return a->unit.committed < b->unit.committed; });
    const Range rest = rest_of(stage, held);
    if (rest.size() == 1 || !stage.setup.may_split) {
      if (copier.copy(group, rest, false)) break;
      continue;
    }
    Proposal proposal = recovery(stage, requester, held, rest, work, now);
    if (take(proposal)) break;
  }
  return {};
}

}  // namespace gleaner::policy
