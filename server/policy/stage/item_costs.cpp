#include "server/policy/stage/item_costs.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

// Items of a unit looked at for long ones; in a unit of more none is.
constexpr std::int64_t noted = 10'000;

// What somebody else had done of an item of the unit.
double begun_share(const Unit& unit, std::int64_t item) {
  return item == unit.range.begin ? unit.begun_share : 0;
}

}  // namespace

const ItemCosts::Spent& ItemCosts::Overlong::longest() const {
  return *std::max_element(spent.begin(), spent.end(),
                           [](const Spent& a, const Spent& b) { return a.seconds < b.seconds; });
}

// ---- What is known

double ItemCosts::proven(std::int64_t item) const {
  if (overlong_.empty()) return 0;
  const auto found = overlong_.find(item);
  if (found == overlong_.end()) return 0;
  double most = 0, second = 0;
  for (const Spent& spent : found->second.spent) {
    second = std::max(second, std::min(most, spent.cost));
    most = std::max(most, spent.cost);
  }
  return (1 + numbers::expected_more) * second;
}

double ItemCosts::told(std::int64_t item) const {
  if (overlong_.empty()) return 0;
  const auto found = overlong_.find(item);
  if (found == overlong_.end()) return 0;
  double least = 0;
  for (const Spent& spent : found->second.spent) {
    if (spent.whole > 0 && (least == 0 || spent.whole < least)) least = spent.whole;
  }
  return least;
}

bool ItemCosts::overlong(std::int64_t item, HostId host) const {
  if (overlong_.empty()) return false;
  const auto found = overlong_.find(item);
  return found != overlong_.end() &&
         std::any_of(found->second.spent.begin(), found->second.spent.end(),
                     [&](const Spent& spent) { return spent.host == host && spent.cost > 0; });
}

double ItemCosts::left(const Held& held, std::int64_t item, double rate) const {
  const double hinted = hint(item), spent = held.unit.item_seconds * rate;
  const double begun = begun_share(held.unit, item), done = held.estimate.item_share;
  if (done - begun > 0) return (1 - done) * spent / (done - begun);
  double left =
      spent <= numbers::hint_share_believed * hinted ? hinted - spent : numbers::expected_more * spent;
  if (const double proof = proven(item); proof > 0)
    left = std::max(numbers::expected_more * spent, proof - spent);
  return left * (1 - begun);
}

double ItemCosts::elsewhere(const Held& held, std::int64_t item) const {
  const double hinted = hint(item), spent = held.unit.item_seconds * held.estimate.rate;
  double cost = hinted;
  // An item far beyond its hint is either costlier than hinted or its host slower than believed; between what
  // the two would mean for another host, the geometric mean.
  if (const double proof = proven(item); proof > 0) {
    cost = std::max(hinted, proof);
  } else if (const double said = told(item); said > 0) {
    cost = std::sqrt(hinted * said);
  } else if (spent > hinted) {
    cost = std::sqrt(hinted * (1 + numbers::expected_more) * spent);
  }
  return (1 - saved_share(item)) * cost;
}

bool ItemCosts::standing_still(const Held& held, double rate, const EndgameRules& rules) const {
  const Unit& unit = held.unit;
  if (rate <= 0 || unit.running_seconds < rules.unit_minimum / 2) return false;
  if (const double proof = proven(unit.finished); proof > 0)
    return unit.item_seconds * rate > numbers::doubt_factor * proof;
  if (unit.rate_minute > 0) return unit.rate_minute <= rules.stall_rate * rate;
  // A rate of 0 may only say that one long item has not ended yet.
  if (unit.finished >= unit.range.end) return false;
  return unit.item_seconds * rate > numbers::still_factor * hint(unit.finished) &&
         unit.item_seconds > rules.unit_minimum;
}

double ItemCosts::saved_share(std::int64_t item) const {
  if (saved_.empty()) return 0;
  const auto found = saved_.find(item);
  return found == saved_.end() ? 0 : found->second.share;
}

// ---- What changes

void ItemCosts::handed_out(Range range, double rate, const EndgameRules& rules) {
  const double limit = rules.unit_minimum * rate;
  if (!rules.copy_long || !costs_->differ() || limit <= 0 || costs_->longest() <= limit) return;
  range.end = std::min(range.end, range.begin + noted);
  for (std::int64_t item = range.begin; item < range.end; ++item) {
    if (const double cost = hint(item); cost > limit) long_.insert({cost, item});
  }
}

void ItemCosts::learn(const Held& held, double rate, const EndgameRules& rules) {
  const Unit& unit = held.unit;
  if (!rules.learn_costs || held.group == nullptr) return;
  const std::int64_t item = unit.finished;
  const double hinted = hint(item), least = numbers::overlong_factor * hinted;
  const double cost = unit.item_seconds * rate;
  const double share = held.estimate.item_share - begun_share(unit, item);
  double whole = share > 0 && !costs_->differ() ? cost / share : 0;
  if (whole <= std::max(least, rules.unit_minimum * rate)) whole = 0;
  const bool copy = unit.group != unit.id;  // of what another host told, maybe
  if (whole > numbers::slow_factor * hinted && !copy && !hear_of_long(*held.slot, item)) whole = 0;
  const bool proves = cost > least && unit.item_seconds >= rules.unit_minimum;
  if (!proves && whole == 0) {
    // Somebody else was slow, then: here it takes no longer than hinted.
    if (held.estimate.item_share > 0 && overlong_.contains(item)) unlearn({item, item + 1});
    return;
  }
  std::vector<Spent>& known = overlong_[item].spent;
  auto mine =
      std::find_if(known.begin(), known.end(), [&](const Spent& spent) { return spent.host == unit.host; });
  if (mine == known.end()) mine = known.insert(known.end(), {unit.host, 0, 0, 0});
  if (proves) {
    mine->seconds = std::max(mine->seconds, unit.item_seconds);
    mine->cost = std::max(mine->cost, cost);
  }
  mine->whole = whole;
  list(item, rules);
}

void ItemCosts::finish_up_to(Held& held, std::int64_t item) {
  if (item <= held.unit.finished) return;
  if (held.unit.state == UnitState::open) {
    Slot& slot = *held.slot;
    slot.items_done += item - held.unit.finished;
    if (slot.items_done > slot.told_after + 1) slot.slow = false;
  }
  held.unit.finished = item;
}

// Notes that a slot says of an item that it is long. False: the slot's word is not believed.
bool ItemCosts::hear_of_long(Slot& slot, std::int64_t item) {
  if (item != slot.told_item) {
    if (slot.told_item >= 0 && slot.items_done <= slot.told_after + 1) slot.slow = true;
    slot.told_item = item;
    slot.told_after = slot.items_done;
  }
  return !slot.slow;
}

void ItemCosts::list(std::int64_t item, const EndgameRules& rules) {
  Overlong& known = overlong_.at(item);
  const double cost = told(item);
  if (cost == known.listed || !rules.copy_long) return;
  if (known.listed > 0) long_.erase({known.listed, item});
  if (cost > 0) long_.insert({cost, item});
  known.listed = cost;
}

void ItemCosts::unlearn(Range range) {
  if (overlong_.empty()) return;
  const auto first = overlong_.lower_bound(range.begin), end = overlong_.lower_bound(range.end);
  for (auto each = first; each != end; ++each) {
    if (each->second.listed > 0) long_.erase({each->second.listed, each->first});
  }
  overlong_.erase(first, end);
}

void ItemCosts::forget(Range range) {
  unlearn(range);
  forget_saved(range);
  if (long_.empty()) return;
  const std::int64_t end = std::min(range.end, range.begin + noted);
  for (std::int64_t item = range.begin; item < end; ++item) long_.erase({hint(item), item});
}

// ---- What is saved

bool ItemCosts::save(std::int64_t item, double share, HostId begun_by) {
  if (!(share > saved_share(item) && share <= 1)) return false;
  saved_[item] = {share, begun_by};
  return true;
}

void ItemCosts::forget_saved(Range range) {
  if (!saved_.empty()) saved_.erase(saved_.lower_bound(range.begin), saved_.lower_bound(range.end));
}

bool ItemCosts::go_on(Unit& unit) const {
  const auto found = saved_.find(unit.range.begin);
  if (found == saved_.end()) return false;
  unit.begun_share = found->second.share;
  unit.begun_by = found->second.begun_by;
  return true;
}

}  // namespace gleaner::policy
