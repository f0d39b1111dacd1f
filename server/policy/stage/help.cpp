// How an idle slot helps live holders (R6b-R6e): split the unit that would end last so that both end
// together; copy it where it cannot be split, within a budget; and flood the very last rests.
#include <algorithm>
#include <cmath>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// R6c: a copy that ends this much sooner is worth it; or one that ends hardly later, as an insurance.
constexpr double sooner_share = 0.8;
constexpr double budget_exempt_share = 0.5;
constexpr double insurance_gains = 2;  // "Ti < T + 10 s" in shortest gains of 5 s
// R6d: flooding begins when so many slots are idle for each open unit.
constexpr double idle_per_unit = 3;
constexpr double flood_factor = 2;  // Ti < max(60 s, 2 T)
constexpr double much_faster = 2;

}  // namespace

// The groups that end last, latest first; those that should have ended by now by id.
std::vector<UnitId> StageState::latest_groups(Timestamp now) {
  const auto& live = latest_live();
  std::vector<std::pair<double, UnitId>> found;
  const auto count = static_cast<std::size_t>(std::max(1, setup.rules.look_at));
  for (auto next = live.rbegin(); next != live.rend() && found.size() < count; ++next)
    found.emplace_back(-seconds_left(groups.at(next->second), now), next->second);
  std::sort(found.begin(), found.end());
  std::vector<UnitId> ids;
  for (const auto& [left, id] : found) ids.push_back(id);
  return ids;
}

Grant StageState::help(const Requester& requester, double rate, const EndgameRules& rules, Timestamp now,
                       Changes& changes) {
  for (const UnitId group : latest_groups(now)) {
    Grant grant = split(requester, rate, group, rules, now, changes);
    if (!grant.unit) grant = copy(requester, rate, group, rules, now, changes);
    if (grant.unit) return grant;
  }
  return {};
}

Grant StageState::split(const Requester& requester, double rate, UnitId group, const EndgameRules& rules,
                        Timestamp now, Changes& changes) {
  if (!setup.may_split || !rules.split_live) return {};
  const Held* live = nullptr;
  for (const Held* held : groups.at(group).members) {
    if (!held->live()) continue;
    if (live != nullptr) return {};  // copied already: the first one ends it
    live = held;
  }
  const Unit& unit = live->unit;
  const double left = seconds_left(*live, now);
  if (left <= rules.gain_minimum) return {};

  // Where the holder will be when it hears of the cut: beyond that, nobody computes an item twice.
  Timestamp hears = later(std::max(now, live->told_contact), rules.look_ahead);
  std::int64_t safe = std::max(unit.committed, unit.finished);
  // It keeps the item in progress, whatever its hint says.
  if (live->starts <= hears) safe = std::max(safe, costs.item_at(work_done(*live, hears))) + 1;
  if (safe >= unit.range.end) return {};

  // Both end together: the holder after left - x / r, the requester after o + x / ri.
  const double r = live->rate;
  const double work = rate * r * (left - rules.request_delay) / (rate + r);
  const auto end_with = [&](std::int64_t from) {
    const double moved = costs.of({from, unit.range.end});
    return std::max(left - moved / r, rules.request_delay + moved / rate);
  };
  std::int64_t from = std::clamp(costs.tail_worth(unit.range, std::max(0.0, work)), safe, unit.range.end - 1);
  for (const std::int64_t other : {from - 1, from + 1}) {
    if (other >= safe && other < unit.range.end && end_with(other) < end_with(from)) from = other;
  }
  const double sooner = end_with(from);
  if (left - sooner <= rules.gain_minimum) return {};
  const Range taken{from, unit.range.end};
  if (leave_to_thriftier(requester, group, costs.of(taken), now)) return {};
  open_unit(requester, UnitKind::split, taken, {},
            because("the last {} items of unit {}: its host {} would need {:.1f} s, both together {:.1f} s",
                    taken.size(), unit.id.value, unit.host.value, left, sooner),
            now, changes);
  cut_group(group, from, requester.unit,
            because("host {} computes the rest, to end in {:.1f} s instead of {:.1f} s", requester.host.value,
                    sooner, left),
            now, changes);
  return {requester.unit, 0, {}};
}

Grant StageState::copy(const Requester& requester, double rate, UnitId group, const EndgameRules& rules,
                       Timestamp now, Changes& changes) {
  const Group& members = groups.at(group);
  if (rules.copy_budget <= 0 || holds_any(members, requester.host)) return {};
  const Held* first = nullptr;  // the one that ends first
  int live = 0;
  for (const Held* held : members.members) {
    if (!held->live()) continue;
    // A slow copy, made before anybody knew how long the item is, does not keep a much faster one out.
    if (!rules.fast_copies || rate <= much_faster * fleet.rate(held->host->record)) ++live;
    if (first == nullptr || held->expected_end < first->expected_end) first = held;
  }
  const bool flood = static_cast<double>(idle_slots) > idle_per_unit * static_cast<double>(open.size());
  if (live >= (flood ? rules.flood_copies : rules.live_copies)) return {};
  if (static_cast<int>(members.members.size()) >= members_max(rules)) return {};
  const Unit& unit = first->unit;
  if (only_delivery_missing(*first, now)) return {};
  const std::int64_t from =
      unit.finished < unit.range.end ? std::max(unit.committed, unit.finished) : unit.committed;
  const std::vector<Range> lacking = accepted.missing({from, unit.range.end});
  if (lacking.empty()) return {};
  const Range taken{std::max(from, lacking.front().begin), unit.range.end};

  const double left = seconds_left(members, now);
  const double spent = unit.item_seconds * first->rate;
  // An item far beyond its hint is either costlier than hinted or its host slower than believed; between what
  // the two would mean for another host, the geometric mean.
  const double hint = costs.of({taken.begin, taken.begin + 1});
  double item = hint;
  if (const double proven = proven_cost(taken.begin); proven > 0) {
    item = std::max(hint, proven);
  } else if (const double told = told_cost(taken.begin); told > 0) {
    item = std::sqrt(hint * told);
  } else if (spent > hint) {
    item = std::sqrt(hint * (1 + expected_more) * spent);
  }
  const double work = costs.of(taken) - hint + (1 - saved_share(taken.begin)) * item;
  const double mine = work / rate + rules.request_delay;
  const bool sooner = mine < sooner_share * left && left - mine > rules.gain_minimum;
  const bool insurance = left > rules.gain_minimum && mine < left + insurance_gains * rules.gain_minimum;
  const bool flooding = flood && mine < std::max(rules.unit_minimum, flood_factor * left);
  if (!sooner && !insurance && !flooding) return {};
  if (copied_cost + work > setup.rules.copy_budget * costs.total()) {
    // In a small stage one item may exceed the budget: the very last unit may still have one copy that halves
    // the wait.
    const auto& latest = latest_live();
    const bool last = latest.rbegin()->second == group || latest.size() == 1;
    if (!last || live > 1 || !sooner || mine > budget_exempt_share * left) return {};
  }
  if (leave_to_thriftier(requester, group, work, now)) return {};
  copied_cost += work;
  open_unit(
      requester, sooner || insurance ? UnitKind::copy : UnitKind::flood, taken, group,
      because("a copy of the last {} items of unit {}: its host {} would need {:.1f} s, this one {:.1f} s",
              taken.size(), unit.id.value, unit.host.value, left, mine),
      now, changes);
  return {requester.unit, 0, {}};
}

}  // namespace gleaner::policy
