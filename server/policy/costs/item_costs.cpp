#include "server/policy/costs/item_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gleaner::policy {
namespace {

// Items of a unit looked at for long ones; in a unit of more none is.
constexpr std::int64_t noted = 10'000;

// What somebody else had done of an item of the unit.
double begun_share(const Unit& unit, std::int64_t item) {
  return item == unit.range.begin ? unit.begun_share : 0;
}

}  // namespace

// ---- What is known

ItemCosts::Estimate ItemCosts::estimate(std::int64_t item, HostId but) const {
  const double hinted = hint(item);
  Estimate estimate{hinted, hinted, 0};
  const auto found = known_.find(item);
  if (found == known_.end()) return estimate;
  double least = std::numeric_limits<double>::infinity();
  for (const Word& word : found->second.words) {
    if (word.host == but) continue;
    least = std::min(least, word.cost);
    ++estimate.words;
  }
  if (estimate.words == 0) return estimate;
  estimate.mean = hinted * std::pow(least / hinted, estimate.words / (1.0 + estimate.words));
  estimate.said = least;
  return estimate;
}

double ItemCosts::elsewhere(std::int64_t item) const {
  return (1 - saved_share(item)) * estimate(item).mean;
}

double ItemCosts::left(const Held& held, std::int64_t item, double rate) const {
  const double spent = held.unit.item_seconds * rate;
  const double begun = begun_share(held.unit, item), done = held.estimate.item_share;
  if (done - begun > 0) return (1 - done) * spent / (done - begun);
  const double others = estimate(item, held.unit.host).mean;
  return (1 - begun) * std::max(others - spent, numbers::half * spent);
}

bool ItemCosts::standing_still(const Held& held, double rate, const EndgameRules& rules) const {
  const Unit& unit = held.unit;
  if (rate <= 0 || unit.running_seconds < rules.unit_minimum / 2) return false;
  const bool computes = unit.finished < unit.range.end;
  const Estimate others = computes ? estimate(unit.finished, unit.host) : Estimate{};
  const bool long_for_all = others.words > 0 && overlong(unit.finished, unit.host);
  if (unit.rate_minute > 0 && !long_for_all) return unit.rate_minute * numbers::still_factor <= rate;
  // A rate of 0 may only say that one long item has not ended yet.
  if (!computes || unit.item_seconds <= rules.unit_minimum) return false;
  const double most = std::pow(numbers::still_factor, 1 / std::sqrt(1 + others.words));
  return unit.item_seconds * rate > most * others.mean;
}

bool ItemCosts::overlong(std::int64_t item, HostId host) const {
  const auto found = known_.find(item);
  if (found == known_.end()) return false;
  const std::vector<Word>& words = found->second.words;
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return word.host == host && word.spent; });
}

double ItemCosts::saved_share(std::int64_t item) const {
  if (saved_.empty()) return 0;
  const auto found = saved_.find(item);
  return found == saved_.end() ? 0 : found->second.share;
}

// ---- What changes

void ItemCosts::handed_out(Range range, double rate, const EndgameRules& rules) {
  const double limit = rules.unit_minimum * rate;
  if (!costs_->differ() || limit <= 0 || costs_->longest() <= limit) return;
  range.end = std::min(range.end, range.begin + noted);
  for (std::int64_t item = range.begin; item < range.end; ++item) {
    if (known_.contains(item)) continue;
    if (const double cost = hint(item); cost > limit) long_.insert({cost, item});
  }
}

void ItemCosts::learn(const Held& held, double rate, const EndgameRules& rules) {
  const Unit& unit = held.unit;
  if (held.group == nullptr || rate <= 0) return;
  const std::int64_t item = unit.finished;
  const double hinted = hint(item), spent = unit.item_seconds * rate;
  const auto is_long = [&](double cost, double seconds) {
    return numbers::half * cost > hinted && seconds >= rules.unit_minimum;
  };
  const auto found = known_.find(item);
  Word word{unit.host, 0, is_long(spent, unit.item_seconds)};
  if (word.spent) word.cost = (1 + numbers::half) * spent;
  const double share = held.estimate.item_share - begun_share(unit, item);
  if (share > 0) {
    const double whole = spent / share;
    const bool copy = unit.group != unit.id;  // of what another host told, maybe
    const bool news = is_long(whole, unit.item_seconds / share);
    if (news ? whole <= numbers::believable * hinted || copy || believed(*held.slot, item)
             : found != known_.end())
      word.cost = whole;
  }
  if (word.cost <= 0) return;
  Known& known = found != known_.end() ? found->second : known_[item];
  const auto mine = std::find_if(known.words.begin(), known.words.end(),
                                 [&](const Word& other) { return other.host == unit.host; });
  if (mine == known.words.end()) {
    known.words.push_back(word);
  } else {
    *mine = word;
  }
  const double said = estimate(item).said;
  if (said == known.listed) return;
  long_.erase({known.listed > 0 ? known.listed : hinted, item});
  long_.insert({said, item});
  known.listed = said;
}

// Notes that a slot says of an item that it is long. False: the slot's word is not believed.
bool ItemCosts::believed(Slot& slot, std::int64_t item) {
  if (item != slot.told_item) {
    if (slot.told_item >= 0 && slot.items_done <= slot.told_after + 1) slot.slow = true;
    slot.told_item = item;
    slot.told_after = slot.items_done;
  }
  return !slot.slow;
}

void ItemCosts::finish_up_to(Held& held, std::int64_t item) {
  if (item <= held.unit.finished) return;
  Slot& slot = *held.slot;
  slot.items_done += item - held.unit.finished;
  if (slot.items_done > slot.told_after + 1) slot.slow = false;
  held.unit.finished = item;
}

void ItemCosts::forget(Range range) {
  forget_saved(range);
  const std::int64_t last = std::min(range.end, range.begin + noted);
  for (std::int64_t item = range.begin; item < last && !long_.empty(); ++item) {
    // Most items are shorter than all that are listed.
    if (const double cost = hint(item); cost >= long_.begin()->first) long_.erase({cost, item});
  }
  if (known_.empty()) return;
  const auto first = known_.lower_bound(range.begin), end = known_.lower_bound(range.end);
  for (auto each = first; each != end; ++each) long_.erase({each->second.listed, each->first});
  known_.erase(first, end);
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
