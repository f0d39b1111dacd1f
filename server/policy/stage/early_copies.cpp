// An indivisible item that would end after all the rest holds up the whole stage: while there is free work, a
// fast host that asks gets a copy of it, when it is about time. There are two kinds: items whose hint says
// that they are long (off-switch: copy_long), and items that have taken long (overlong.cpp). A holder that is
// paused or silent counts as one that never ends. Not in the specification.
#include <algorithm>
#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
// It is time for a copy once the host needs so much of the time that all the rest takes.
constexpr double in_time_share = 0.5;
// The copy has to end this much sooner (R6c).
constexpr double sooner_by = 0.8;
// A copy beyond the budget has to halve the wait (R6e).
constexpr double exempt_share = 0.5;
// Items looked at for one that the host should copy.
constexpr int looked_at = 64;
// Items of a unit looked at for long ones; in a unit of more none is.
constexpr std::int64_t noted = 10'000;

}  // namespace

void StageState::note_long(const Held& held, const EndgameRules& rules) {
  const double limit = rules.unit_minimum * fleet.rate(held.host->record);
  if (!rules.copy_long || !costs.differ() || limit <= 0 || costs.longest() <= limit) return;
  Range range{held.unit.committed, held.unit.range.end};
  range.end = std::min(range.end, range.begin + noted);
  for (std::int64_t item = range.begin; item < range.end; ++item) {
    if (const double cost = costs.of({item, item + 1}); cost > limit) long_items.insert({cost, item});
  }
}

// The holders of an item that is not delivered, and in how many seconds the first of them ends it.
struct StageState::ItemHolders {
  UnitId group;  // none: nobody has it
  int all = 0, live = 0;
  double left = never;
};

StageState::ItemHolders StageState::holders_of(std::int64_t item, Timestamp now) const {
  ItemHolders holders;
  for (const UnitId id : cover.over({item, item + 1})) {
    const Held& held = open.at(id);
    if (held.group == nullptr || held.unit.finished > item) continue;
    holders.group = held.unit.group;
    ++holders.all;
    if (!held.live()) continue;
    ++holders.live;
    const double starts = std::max(0.0, seconds_between(now, held.starts));
    const double rest = costs.before(item + 1) - work_done(held, now);
    holders.left = std::min(holders.left, starts + std::max(0.0, rest) / held.rate);
  }
  return holders;
}

Grant StageState::copy_item(const Requester& requester, std::int64_t item, double cost, UnitId group,
                            const std::string& reason, Timestamp now, Changes& changes) {
  // Its holder gives back what follows: whoever ends the item first, nobody computes it for the rest's sake.
  cut_group(group, item + 1, requester.unit, "its item in progress takes too long", now, changes);
  copied_cost += cost;
  open_unit(requester, UnitKind::copy, {item, item + 1}, group, reason, now, changes);
  return {requester.unit, 0, {}};
}

Grant StageState::copy_early(const Requester& requester, Timestamp now, Changes& changes) {
  const EndgameRules rules = pace();
  const double rate = fleet.rate(hosts.at(requester.host).record), fleet_rate = fleet.rate_on();
  if (!setup.may_split || rate <= 0 || fleet_rate <= 0) return {};
  if (rules.fast_copies && rate < fast_from()) return {};
  if (const auto slot = slots.find({requester.host, requester.slot});
      slot != slots.end() && slot->second.slow)
    return {};
  const double rest = (free_cost + stalled_cost) / fleet_rate;
  Grant grant = copy_overlong(requester, rate, rest, rules, now, changes);
  if (!grant.unit) grant = copy_long(requester, rate, rest, rules, now, changes);
  return grant;
}

Grant StageState::copy_long(const Requester& requester, double rate, double rest, const EndgameRules& rules,
                            Timestamp now, Changes& changes) {
  // What is free and as long goes first.
  const auto longest = free_by_cost ? free_by_cost->longest() : std::nullopt;
  const double free_longest = longest ? costs.of({*longest, *longest + 1}) : 0;
  int looked = 0;
  for (auto next = long_items.end(); next != long_items.begin() && looked < looked_at;) {
    const auto [cost, item] = *--next;
    if (cost < in_time_share * rest * rate || cost <= free_longest) break;
    if (accepted.contains(item)) {
      next = long_items.erase(next);
      continue;
    }
    ++looked;
    const ItemHolders holders = holders_of(item, now);
    const double left = (1 - saved_share(item)) * cost;
    const double mine = left / rate + rules.request_delay;
    if (holders.all == 0 || holders.live >= rules.live_copies || holders.all >= members_max(rules)) continue;
    if (holders.left <= rest + rules.gain_minimum || mine >= sooner_by * holders.left) continue;
    // In a small stage one item may exceed the budget: the longest may still have one copy (R6e).
    const bool exempt = looked == 1 && holders.all == 1 && mine <= exempt_share * holders.left;
    if (!exempt && copied_cost + left > setup.rules.copy_budget * costs.total()) continue;
    if (holds_any(groups.at(holders.group), requester.host)) continue;
    return copy_item(
        requester, item, left, holders.group,
        because(
            "item {} would be done in {:.0f} s where it is, all the rest in {:.0f} s, and here in {:.0f} s",
            item, holders.left, rest, mine),
        now, changes);
  }
  return {};
}

Grant StageState::copy_overlong(const Requester& requester, double rate, double rest,
                                const EndgameRules& rules, Timestamp now, Changes& changes) {
  int looked = 0;
  for (const auto& [item, what] : overlong) {
    if (what.listed > 0) continue;  // copy_long() looks after it
    const std::vector<Spent>& known = what.spent;
    const Spent& longest = *std::max_element(
        known.begin(), known.end(), [](const Spent& a, const Spent& b) { return a.seconds < b.seconds; });
    const bool soon = expected_more * longest.seconds > rest;
    // Where nobody is at it any more, a copy is due sooner.
    if (!soon && (!rules.fast_copies || longest.seconds <= rest)) continue;
    if (++looked > looked_at) break;
    // The holders that compute it, and when the first of them should be done.
    UnitId group;
    int holders = 0;
    double left = never;
    for (const UnitId id : cover.over({item, item + 1})) {
      const Held& held = open.at(id);
      const Unit& unit = held.unit;
      if (held.group == nullptr || unit.finished != item) continue;
      ++holders;
      group = unit.group;
      if (!held.silent && unit.run_state == protocol::RunState::running)
        left = std::min(left, expected_more * unit.item_seconds);
    }
    if (holders == 0 || holders >= rules.live_copies || left <= rest || (!soon && left < never)) continue;
    if (holds_any(groups.at(group), requester.host)) continue;
    const double proven = proven_cost(item);
    const double cost = proven > 0 ? proven : (1 + expected_more) * longest.cost;
    const double mine = cost / rate + rules.request_delay;
    if (mine >= sooner_by * left || copied_cost + cost > setup.rules.copy_budget * costs.total()) continue;
    return copy_item(
        requester, item, cost, group,
        because(
            "item {} has taken {:.0f} s on host {}, all the rest needs {:.0f} s, this host {:.0f} s for it",
            item, longest.seconds, longest.host.value, rest, mine),
        now, changes);
  }
  return {};
}

}  // namespace gleaner::policy
