// What others may see of a stage.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

bool Stage::complete() const {
  const StageState& state = *state_;
  return state.enough || (state.accepted.total() == state.setup.items && state.disputed.empty());
}

bool Stage::has_work_for(HostId host, Timestamp /*now*/) const {
  const StageState& state = *state_;
  if (complete()) return false;
  const auto found = state.hosts.find(host);
  if (found != state.hosts.end() && found->second.record.omitted) return false;
  if (!state.free.empty() || !state.checks.empty()) return true;
  return state.setup.straggler != Straggler::none && !state.groups.empty();
}

double Stage::heartbeat_seconds(Timestamp /*now*/) const {
  return state_->heartbeat(state_->pace());
}

const Unit* Stage::unit(UnitId id) const {
  for (const auto* units : {&state_->open, &state_->closed}) {
    const auto found = units->find(id);
    if (found != units->end()) return &found->second.unit;
  }
  return nullptr;
}

std::vector<const Unit*> Stage::open_units() const {
  std::vector<const Unit*> units;
  units.reserve(state_->open.size());
  for (const auto& [id, held] : state_->open) units.push_back(&held.unit);
  std::sort(units.begin(), units.end(), [](const Unit* a, const Unit* b) { return a->id < b->id; });
  return units;
}

const HostRecord* Stage::host(HostId id) const {
  const auto found = state_->hosts.find(id);
  return found == state_->hosts.end() ? nullptr : &found->second.record;
}

std::vector<const HostRecord*> Stage::hosts() const {
  std::vector<const HostRecord*> records;
  records.reserve(state_->hosts.size());
  for (const auto& [id, host] : state_->hosts) records.push_back(&host.record);
  return records;
}

const RangeSet& Stage::accepted() const {
  return state_->accepted;
}
const RangeSet& Stage::free() const {
  return state_->free;
}
const RangeSet& Stage::set_aside() const {
  return state_->set_aside;
}

double Stage::cost(Range range) const {
  return state_->costs.of(range);
}

std::vector<SlotView> Stage::slots_on(Timestamp now) const {
  const StageState& state = *state_;
  std::vector<SlotView> views;
  for (const auto& [key, slot] : state.slots) {
    if (!slot.on) continue;
    SlotView view{key.first, key.second, 0};
    // The estimate of a unit that waits counts from the end of the one before it.
    for (const Held* held : slot.units)
      view.seconds_left = std::max(view.seconds_left, StageState::seconds_left(*held, now));
    views.push_back(view);
  }
  return views;
}

StageCounts Stage::counts(Timestamp /*now*/) const {
  const StageState& state = *state_;
  StageCounts counts;
  counts.items = state.setup.items;
  counts.accepted = state.accepted.total();
  counts.free = state.free.total();
  counts.set_aside = state.set_aside.total();
  counts.handed_out = counts.items - counts.accepted - counts.free - counts.set_aside - state.dropped.total();
  counts.cost = state.costs.total();
  counts.cost_accepted = state.accepted_cost;
  counts.givers = state.givers;
  counts.cost_wasted = state.wasted_cost;
  counts.units = state.units_made;
  counts.open_units = static_cast<std::int64_t>(state.open.size());
  counts.splits = state.splits;
  counts.recovered = state.recovered;
  counts.copies = state.copies;
  counts.disputes = state.disputes_seen;
  counts.rate = state.fleet.rate_on();
  if (counts.rate > 0) counts.remaining_seconds = (counts.cost - counts.cost_accepted) / counts.rate;
  return counts;
}

void Stage::check_invariants() const {
  state_->check_invariants();
}

void Stage::check_changed(const Changes& changes) const {
  state_->check_changed(changes);
}

}  // namespace gleaner::policy
