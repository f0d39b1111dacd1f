// Items whose hint is far too low (the specification's `wild` profile: all hints equal). A single host that
// has been at an item for long may only be slower than believed; what two hosts have spent on it proves that
// the item is long. Then it is expected to take half as long again as proven, its holders do not count as
// standing still, and only hosts that are fast enough get a copy (early_copies.cpp, help.cpp). Not in the
// specification; off-switch: learn_costs.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// From so many hints on, and from the shortest unit's duration on, an item in progress is worth remembering.
constexpr double overlong_factor = 2;
// Items that are told to be so long, one right after the other, tell of a slow host.
constexpr double slow_factor = 10;

}  // namespace

void StageState::learn(const Held& held, const EndgameRules& rules) {
  const Unit& unit = held.unit;
  if (!rules.learn_costs || held.group == nullptr || unit.finished >= unit.range.end) return;
  const std::int64_t item = unit.finished;
  if (accepted.contains(item)) return;  // from another host: this one has not heard of it
  const double rate = fleet.rate(held.host->record);
  const double least = overlong_factor * costs.of({item, item + 1});
  const double cost = unit.item_seconds * rate;
  const double share = held.item_share - begun_share(unit, item);
  double whole = share > 0 && !costs.differ() ? cost / share : 0;
  if (whole <= std::max(least, rules.unit_minimum * rate)) whole = 0;
  const bool copy = unit.group != unit.id;  // of what another host told, maybe
  if (whole > slow_factor * costs.of({item, item + 1}) && !copy && !hear_of_long(*held.slot, item)) whole = 0;
  const bool proves = cost > least && unit.item_seconds >= rules.unit_minimum;
  if (!proves && whole == 0) {
    // Somebody else was slow, then: here it takes no longer than hinted.
    if (held.item_share > 0 && overlong.contains(item)) forget({item, item + 1});
    return;
  }
  std::vector<Spent>& known = overlong[item].spent;
  auto mine =
      std::find_if(known.begin(), known.end(), [&](const Spent& spent) { return spent.host == unit.host; });
  if (mine == known.end()) mine = known.insert(known.end(), {unit.host, 0, 0, 0});
  if (proves) {
    mine->seconds = std::max(mine->seconds, unit.item_seconds);
    mine->cost = std::max(mine->cost, cost);
  }
  mine->whole = whole;
  list_overlong(item, rules);
}

// Closed units have left their slot.
void StageState::finish_up_to(Held& held, std::int64_t item) {
  if (item <= held.unit.finished) return;
  if (held.unit.state == UnitState::open) {
    Slot& slot = *held.slot;
    slot.items_done += item - held.unit.finished;
    if (slot.items_done > slot.told_after + 1) slot.slow = false;
  }
  held.unit.finished = item;
}

// Notes that a slot says of an item that it is long. False: the slot's word is not believed.
bool StageState::hear_of_long(Slot& slot, std::int64_t item) {
  if (item != slot.told_item) {
    if (slot.told_item >= 0 && slot.items_done <= slot.told_after + 1) slot.slow = true;
    slot.told_item = item;
    slot.told_after = slot.items_done;
  }
  return !slot.slow;
}

void StageState::list_overlong(std::int64_t item, const EndgameRules& rules) {
  Overlong& known = overlong.at(item);
  const double cost = told_cost(item);
  if (cost == known.listed || !rules.copy_long) return;
  if (known.listed > 0) long_items.erase({known.listed, item});
  if (cost > 0) long_items.insert({cost, item});
  known.listed = cost;
}

void StageState::forget(Range range) {
  if (overlong.empty()) return;
  const auto first = overlong.lower_bound(range.begin), end = overlong.lower_bound(range.end);
  for (auto each = first; each != end; ++each) {
    if (each->second.listed > 0) long_items.erase({each->second.listed, each->first});
  }
  overlong.erase(first, end);
}

bool StageState::is_overlong(std::int64_t item, HostId host) const {
  if (overlong.empty()) return false;
  const auto found = overlong.find(item);
  return found != overlong.end() &&
         std::any_of(found->second.spent.begin(), found->second.spent.end(),
                     [&](const Spent& spent) { return spent.host == host && spent.cost > 0; });
}

// What the item costs by the word of the host that is fastest at it; 0: nobody knows.
double StageState::told_cost(std::int64_t item) const {
  if (overlong.empty()) return 0;
  const auto found = overlong.find(item);
  if (found == overlong.end()) return 0;
  double least = 0;
  for (const Spent& spent : found->second.spent) {
    if (spent.whole > 0 && (least == 0 || spent.whole < least)) least = spent.whole;
  }
  return least;
}

// What the item costs by the word of two hosts; 0: no two say that it costs more than its hint.
double StageState::proven_cost(std::int64_t item) const {
  if (overlong.empty()) return 0;
  const auto found = overlong.find(item);
  if (found == overlong.end()) return 0;
  double most = 0, second = 0;
  for (const Spent& spent : found->second.spent) {
    second = std::max(second, std::min(most, spent.cost));
    most = std::max(most, spent.cost);
  }
  return (1 + expected_more) * second;
}

}  // namespace gleaner::policy
