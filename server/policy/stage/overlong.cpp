// Items whose hint is far too low (the specification's `wild` profile: all hints equal). A single host that
// has been at an item for long may only be slower than believed; what two hosts have spent on it proves that
// the item is long. Then it is expected to take half as long again as proven, its holders do not count as
// standing still, and only hosts that are fast enough get a copy. An item that would outlast all the rest is
// copied by a much faster host at once, not only when the free pool is empty. Not in the specification;
// off-switch: learn_costs.
#include <algorithm>
#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// From so many hints on, and from the shortest unit's duration on, an item in progress is worth remembering.
constexpr double overlong_factor = 2;
// As R6c has it: the longer an item has taken, the longer it is expected to go on.
constexpr double expected_factor = 1.5, expected_rest = 0.5;
constexpr double much_sooner = 0.8;  // R6c
// Items looked at for one that the host should copy.
constexpr int overlong_looked_at = 64;

}  // namespace

void StageState::learn(const Held& held, const EndgameRules& rules) {
  const Unit& unit = held.unit;
  if (!rules.learn_costs || held.group == nullptr || unit.item_seconds < rules.unit_minimum) return;
  if (unit.finished >= unit.range.end) return;
  const double cost = unit.item_seconds * fleet.rate(held.host->record);
  if (cost <= overlong_factor * costs.of({unit.finished, unit.finished + 1})) return;
  std::vector<Spent>& known = overlong[unit.finished];
  const auto mine =
      std::find_if(known.begin(), known.end(), [&](const Spent& spent) { return spent.host == unit.host; });
  if (mine == known.end()) {
    known.push_back({unit.host, unit.item_seconds, cost});
  } else {
    mine->seconds = std::max(mine->seconds, unit.item_seconds);
    mine->cost = std::max(mine->cost, cost);
  }
}

void StageState::forget(Range range) {
  if (!overlong.empty()) overlong.erase(overlong.lower_bound(range.begin), overlong.lower_bound(range.end));
}

bool StageState::is_overlong(std::int64_t item, HostId host) const {
  if (overlong.empty()) return false;
  const auto found = overlong.find(item);
  return found != overlong.end() && std::any_of(found->second.begin(), found->second.end(),
                                                [&](const Spent& spent) { return spent.host == host; });
}

// What the item costs by the word of two hosts; 0: no two say that it costs more than its hint.
double StageState::proven_cost(std::int64_t item) const {
  if (overlong.empty()) return 0;
  const auto found = overlong.find(item);
  if (found == overlong.end() || found->second.size() < 2) return 0;
  double most = 0, second = 0;
  for (const Spent& spent : found->second) {
    second = std::max(second, std::min(most, spent.cost));
    most = std::max(most, spent.cost);
  }
  return expected_factor * second;
}

// While there is free work: a copy of an item that would otherwise end after all the rest.
Grant StageState::copy_overlong(const Requester& requester, const EndgameRules& rules, Timestamp now,
                                Changes& changes) {
  const double rate = fleet.rate(hosts.at(requester.host).record), fleet_rate = fleet.rate_on();
  if (overlong.empty() || !setup.may_split || rate <= 0 || fleet_rate <= 0) return {};
  const double rest = (free_cost + stalled_cost) / fleet_rate;
  int looked = 0;
  for (const auto& [item, known] : overlong) {
    const Spent& longest = *std::max_element(
        known.begin(), known.end(), [](const Spent& a, const Spent& b) { return a.seconds < b.seconds; });
    if (expected_rest * longest.seconds <= rest) continue;
    if (++looked > overlong_looked_at) break;
    // The holders that compute it, and when the first of them should be done.
    UnitId group;
    std::size_t holders = 0;
    double left = std::numeric_limits<double>::infinity();
    for (const UnitId id : cover.over({item, item + 1})) {
      const Held& held = open.at(id);
      const Unit& unit = held.unit;
      if (held.group == nullptr || unit.finished != item) continue;
      ++holders;
      group = unit.group;
      if (!held.silent && unit.run_state == protocol::RunState::running)
        left = std::min(left, expected_rest * unit.item_seconds);
    }
    if (holders == 0 || holders >= static_cast<std::size_t>(rules.live_copies) || left <= rest) continue;
    if (holds_any(groups.at(group), requester.host)) continue;
    const double cost = known.size() > 1 ? proven_cost(item) : expected_factor * longest.cost;
    const double mine = cost / rate + rules.request_delay;
    if (mine >= much_sooner * left || copied_cost + cost > setup.rules.copy_budget * costs.total()) continue;
    // Its holder gives back what follows: whoever ends the item first, nobody computes it for the rest's
    // sake.
    cut_group(group, item + 1, requester.unit, "its item in progress takes too long", now, changes);
    copied_cost += cost;
    open_unit(
        requester, UnitKind::copy, {item, item + 1}, group,
        because(
            "item {} has taken {:.0f} s on host {}, all the rest needs {:.0f} s, this host {:.0f} s for it",
            item, longest.seconds, longest.host.value, rest, mine),
        now, changes);
    return {requester.unit, 0, {}};
  }
  return {};
}

}  // namespace gleaner::policy
