// Items in progress that another host goes on with: hosts save what they have done of a long item, and the
// server keeps it, so that a power cut, an owner who comes back, or a host that proves slow costs minutes and
// not the item. The result of an item that one host began and another one ended is no second opinion beside
// the first one's own: whoever began it stands for it. Not in the specification; off-switch:
// move_checkpoints.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

bool StageState::save(HostId host, UnitId id, std::int64_t item, double share) {
  const Held* held = find(id, host);
  if (!setup.rules.move_checkpoints || held == nullptr || held->unit.kind == UnitKind::check) return false;
  const Unit& unit = held->unit;
  if (item < unit.committed || item >= unit.range.end || accepted.contains(item)) return false;
  if (!(share > saved_share(item) && share <= 1)) return false;
  const bool went_on = item == unit.range.begin && unit.begun_by.valid();
  saved[item] = {share, went_on ? unit.begun_by : host};
  return true;
}

void StageState::forget_saved(Range range) {
  if (saved.empty()) return;
  saved.erase(saved.lower_bound(range.begin), saved.lower_bound(range.end));
}

// Who gives another opinion begins anew.
bool StageState::go_on_from_saved(Unit& unit) const {
  const auto found = saved.find(unit.range.begin);
  if (found == saved.end() || unit.kind == UnitKind::check) return false;
  unit.begun_share = found->second.share;
  unit.begun_by = found->second.begun_by;
  return true;
}

double StageState::saved_share(std::int64_t item) const {
  if (saved.empty()) return 0;
  const auto found = saved.find(item);
  return found == saved.end() ? 0 : found->second.share;
}

}  // namespace gleaner::policy
