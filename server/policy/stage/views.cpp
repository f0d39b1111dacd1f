// What others may see of a stage.
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

bool Stage::complete() const {
  return state_->ledger.complete();
}

bool Stage::has_work_for(HostId id, Timestamp /*now*/) const {
  const StageState& state = *state_;
  if (complete()) return false;
  const Host* host = state.clock.find(id);
  if (host != nullptr && host->record.omitted) return false;
  if (!state.ledger.free().empty() || !state.checks.empty()) return true;
  return state.setup.straggler != Straggler::none && !state.units.groups().empty();
}

double Stage::heartbeat_seconds(Timestamp /*now*/) const {
  return state_->heartbeat(state_->pace());
}

const Unit* Stage::unit(UnitId id) const {
  const KnownUnit* known = std::as_const(state_->units).find(id);
  return known == nullptr ? nullptr : &known->unit;
}

void Stage::fetch(UnitId id) const {
  const auto found = state_->units.open().find(id);
  if (found == state_->units.open().end()) return;
  const auto* byte = reinterpret_cast<const char*>(&found->second);  // NOLINT: only an address
  for (const auto* end = byte + sizeof(Held); byte < end; byte += 64) __builtin_prefetch(byte);
}

std::vector<const Unit*> Stage::open_units() const {
  std::vector<const Unit*> units;
  for (const UnitId id : state_->units.open_by_id()) units.push_back(&state_->units.at(id).unit);
  return units;
}

const HostRecord* Stage::host(HostId id) const {
  const Host* host = state_->clock.find(id);
  return host == nullptr ? nullptr : &host->record;
}

std::vector<const HostRecord*> Stage::hosts() const {
  std::vector<const HostRecord*> records;
  records.reserve(state_->clock.hosts().size());
  for (const auto& [id, host] : state_->clock.hosts()) records.push_back(&host.record);
  return records;
}

const Ledger& Stage::ledger() const {
  return state_->ledger;
}

std::vector<SlotView> Stage::slots_on(Timestamp now) const {
  const StageState& state = *state_;
  std::vector<SlotView> views;
  for (const auto& [id, host] : state.clock.hosts()) {
    for (const auto& slot : host.slots) {
      if (!slot->on) continue;
      SlotView view{id, slot->number, 0};
      // The estimate of a unit that waits counts from the end of the one before it.
      for (const Held* held : slot->units)
        view.seconds_left = std::max(view.seconds_left, Forecast::seconds_left(*held, now));
      views.push_back(view);
    }
  }
  return views;
}

StageCounts Stage::counts(Timestamp /*now*/) const {
  const StageState& state = *state_;
  StageCounts counts;
  counts.items = state.setup.items;
  counts.accepted = state.ledger.accepted().total();
  counts.free = state.ledger.free().total();
  counts.set_aside = state.ledger.set_aside().total();
  counts.handed_out = state.ledger.held();
  counts.cost = state.ledger.costs().total();
  counts.cost_accepted = state.ledger.accepted_cost();
  counts.contributors = state.totals.contributors;
  counts.cost_wasted = state.totals.wasted_cost;
  counts.units = state.totals.units;
  counts.open_units = static_cast<std::int64_t>(state.units.open().size());
  counts.splits = state.totals.splits;
  counts.recovered = state.totals.recovered;
  counts.copies = state.totals.copies;
  counts.disputes = state.totals.disputes;
  counts.rate = state.clock.fleet().rate_on();
  counts.slots = state.clock.fleet().slots_on();
  counts.busy = state.clock.slots_busy();
  counts.watts = std::max(0.0, state.clock.watts_busy());  // a sum that grows and shrinks may end below zero
  return counts;
}

double Stage::seconds_held(Range range, Timestamp now) const {
  double seconds = 0;
  for (const UnitId id : state_->ledger.cover().over(range))
    seconds = std::max(seconds, Forecast::seconds_left(state_->units.at(id), now));
  return seconds;
}

double Stage::seconds_in_all() const {
  if (state_->told_seconds > 0) return state_->told_seconds;
  const double rate = state_->clock.fleet().rate_on();
  return rate > 0 ? state_->ledger.costs().total() / rate : 0;
}

void Stage::check_invariants() const {
  state_->check_invariants();
}

void Stage::check_changed(const Changes& changes) const {
  state_->check_changed(changes);
}

}  // namespace gleaner::policy
