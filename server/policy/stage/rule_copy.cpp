// Copies: the host that asks computes items that another host is already computing, and the first result
// counts [server/policy/POLICY.md, R8]. There is one test: when would the holders finish, and when would this
// host? A stalled holder never does. While there is free work a copy delays it, so an item is copied only if
// it would end after everything else.
#include <algorithm>
#include <cmath>

#include "server/policy/stage/copier.h"

namespace gleaner::policy {

Copier::Copier(const StageState& stage, const Requester& requester, Timestamp now, const Take& take)
    : stage_(stage),
      requester_(requester),
      rules_(stage.pace()),
      now_(now),
      take_(take),
      rate_(stage.clock.rate(requester.host)),
      rest_(stage.ledger.free().empty() ? 0 : stage.seconds_of_rest()),
      lanes_(stage.clock.find(requester.host)->lanes) {}

Copier::Holders Copier::holders(const Group& group, std::int64_t end) const {
  Holders holders;
  for (const Held* held : group.members) {
    if (!held->live()) continue;
    ++holders.live;
    holders.ends = std::min(holders.ends, stage_.forecast.seconds_to(*held, end, now_));
  }
  return holders;
}

bool Copier::copy(const Group& group, Range range, bool last) const {
  if (holds_any(group, requester_.host)) return false;
  const Holders there = holders(group, range.end);
  if (static_cast<int>(group.members.size()) >= rules_.holders_max) return false;
  if (std::any_of(group.members.begin(), group.members.end(),
                  [&](const Held* held) { return HostClock::only_delivery_missing(*held, now_, rules_); }))
    return false;
  // Worth it? The item in progress costs what is known of it, those behind it what their hints say.
  const Costs& costs = stage_.ledger.costs();
  const double work = stage_.items.elsewhere(range.begin) + costs.of({range.begin + 1, range.end});
  const double mine = work / shared_rate(rate_, range.size(), lanes_) + rules_.request_delay;
  if (there.ends <= rest_ + rules_.gain_minimum) return false;
  if (there.live > 0 && (mine >= numbers::clearly * there.ends || there.ends - mine <= rules_.gain_minimum))
    return false;
  // Beyond the budget only what ends last is copied, as long as each copy halves the wait. Where all holders
  // stall nothing is expected to be computed twice.
  const double price = there.live > 0 ? work : 0;
  if (price > 0 && stage_.totals.copied_cost + price > rules_.copy_budget * stage_.ledger.here_cost() &&
      (!last || there.live > 1 || mine > numbers::half * there.ends))
    return false;
  Proposal copy{UnitKind::copy, range};
  copy.of = group.id;
  copy.as_copy = true;
  copy.work = work;
  copy.price = price;
  // While there is free work the holders give back what follows the item.
  copy.cut_at = range.end;
  copy.cut_reason = "its item in progress takes too long";
  const std::string there_ends = there.live > 0
                                     ? stage_.because("would end in {:.1f} s where they are", there.ends)
                                     : stage_.because("have no holder that computes");
  copy.reason =
      stage_.because("a copy of {} items that {}, and in {:.1f} s here", range.size(), there_ends, mine);
  return take_(copy);
}

bool Copier::copy_rest(const Group& group, bool last) const {
  const Unit& unit = Forecast::first_to_end(group)->unit;
  const std::int64_t from =
      unit.finished < unit.range.end ? std::max(unit.committed, unit.finished) : unit.committed;
  Range rest{unit.range.end, unit.range.end};
  stage_.ledger.accepted().visit_missing(
      {from, unit.range.end}, [&](Range lacking) { rest.begin = std::min(rest.begin, lacking.begin); });
  // A relay has results anywhere in its unit: copies are for what it lacks in one piece.
  if (group.members.front()->host->relay && stage_.ledger.accepted().overlaps(rest)) return false;
  return !rest.empty() && copy(group, rest, last);
}

std::string propose_copy_ahead(const StageState& stage, const Requester& requester, Timestamp now,
                               const Take& take) {
  const auto& items = stage.items.long_items();
  if (items.empty()) return {};
  const Copier copier(stage, requester, now, take);
  if (!stage.setup.may_split || copier.rate() <= 0 || stage.clock.fleet().rate_on() <= 0) return {};
  if (copier.rate() < fast_from(stage)) return {};
  if (stage.clock.find({requester.host, requester.slot})->slow) return {};
  const Ledger& ledger = stage.ledger;
  // A free item that is as long comes first; what is shorter can still wait.
  const auto longest = ledger.by_cost() != nullptr ? ledger.by_cost()->longest() : std::nullopt;
  const double due = std::max(longest ? ledger.costs().of({*longest, *longest + 1}) : 0,
                              numbers::half * copier.rest() * copier.rate());
  int looked = 0;
  for (auto next = items.rbegin(); next != items.rend() && looked < numbers::looked_at; ++next) {
    const auto [cost, item] = *next;
    if (cost <= due) break;
    if (ledger.accepted().contains(item)) continue;
    ++looked;
    const Group* group = nullptr;
    for (const UnitId id : ledger.cover().over({item, item + 1})) group = stage.units.at(id).group;
    if (group != nullptr && copier.copy(*group, {item, item + 1}, looked == 1)) break;
  }
  return {};
}

}  // namespace gleaner::policy
