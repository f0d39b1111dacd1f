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
// As R6c has it: the longer an item has taken, the longer it is expected to go on.
constexpr double expected_factor = 1.5;

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

}  // namespace gleaner::policy
