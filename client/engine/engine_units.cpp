// Engine: from a unit in hand to a running kernel.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "client/engine/engine.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

Slot* Engine::slot_of(const Unit& unit) const {
  for (const auto& slot : slots_)
    if (slot->unit() == &unit) return slot.get();
  return nullptr;
}

Membership& Engine::owner_of(const Unit& unit) const {
  const auto found = std::find_if(projects_.begin(), projects_.end(),
                                  [&unit](const auto& project) { return project->holds(unit); });
  CHECK_TRUE(found != projects_.end());
  return **found;
}

bool Engine::must_give_way(const Unit& unit) const {
  return owner_of(unit).suspended() || (several() && unit.held_back);
}

Engine::Waiting Engine::next_for(const Slot& slot) const {
  Waiting best;
  for (const auto& project : projects_) {
    if (project->suspended()) continue;
    const auto& units = project->units();
    const auto first = std::find_if(units.begin(), units.end(), [&slot](const auto& entry) {
      return entry.second->slot == slot.number() && entry.second->wants_kernel();
    });
    if (first == units.end()) continue;
    if (best.unit == nullptr ||
        shares_.virtual_time(project->key()) < shares_.virtual_time(best.project->key()))
      best = {project.get(), first->second.get()};
  }
  return best;
}

bool Engine::all_revoked() const {
  return std::all_of(projects_.begin(), projects_.end(),
                     [](const auto& project) { return project->revoked().has_value(); });
}

bool Engine::nothing_in_hand() const {
  return std::all_of(projects_.begin(), projects_.end(),
                     [](const auto& project) { return project->units().empty(); });
}

int Engine::cores_in_use() const {
  int cores = 0;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr) cores += slot->threads();
  return cores;
}

void Engine::units_came(SteadyTime now) {
  for (const auto& project : projects_) project->prepare_units(now, alarm_);
  start_units(now);
}

void Engine::start_units(SteadyTime now) {
  if (decision_.mode == RunMode::pause) return;
  std::map<std::tuple<SteadyTime, std::string, UnitId>, std::pair<Slot*, Waiting>> waiting;  // oldest first
  for (const auto& slot : slots_) {
    if (!slot->ready(now) || now < slot->start_at()) continue;
    if (const Waiting next = next_for(*slot); next.unit != nullptr)
      waiting[{next.unit->granted_at, next.project->key(), next.unit->id()}] = {slot.get(), next};
  }
  for (const auto& [age, pair] : waiting) {
    const auto& [slot, next] = pair;
    Unit* const unit = next.unit;
    const int threads = unit->prepared->manifest.threads;
    const int wanted =
        std::clamp(threads == 0 ? services_.settings.cores : threads, 1, services_.settings.cores);
    // Younger ones wait as well, or a kernel with several threads would never find its cores free.
    if (cores_in_use() > 0 && cores_in_use() + wanted > services_.settings.cores) break;
    if (const Status trusted = next.project->check(*unit); !trusted.ok()) {
      unit->fail(protocol::FailureKind::untrusted, trusted.error().message);
      continue;
    }
    unit->order_reason.clear();
    if (const Status started = slot->start(*unit, now); !started.ok())
      spdlog::error("slot {}: {}", slot->number(), started.error().message);
    else
      slot->pump(now);
  }
}

void Engine::stop_kernels(const Membership& project, SteadyTime now) {
  for (const auto& slot : slots_) {
    if (slot->unit() != nullptr && !project.holds(*slot->unit())) continue;
    slot->take_away(now);
    slot->end_kernel();
  }
}

}  // namespace gleaner::engine
