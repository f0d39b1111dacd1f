// Engine: what answers ask of units in hand, and which of them have a kernel.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "client/engine/engine.h"

namespace gleaner::engine {

using client_policy::RunMode;

void Engine::apply_answers(SteadyTime now) {
  for (const auto& project : projects_) {
    const SlotOrders orders = project->apply_answers(now);
    for (const protocol::UnitOrder& order : orders.units)
      if (const auto found = project->units().find(order.unit); found != project->units().end())
        apply_order(order, *found->second, now);
    for (const UnitId id : orders.revoked) end_at_once(*project->units().at(id), now);
    if (orders.end_idle_kernels)
      for (const auto& slot : slots_)
        if (slot->unit() == nullptr) slot->end_kernel();
    if (!orders.end_kernels) continue;
    for (const auto& slot : slots_) {
      if (slot->unit() != nullptr && !project->holds(*slot->unit())) continue;
      slot->take_away(now);
      slot->end_kernel();
    }
  }
}

void Engine::end_at_once(Unit& unit, SteadyTime now) {
  if (Slot* const slot = slots_.of(unit); slot != nullptr) {
    slot->take_away(now);
    slot->end_kernel();
  }
  unit.stop();
}

// Units of applications that the owner has excluded: what is finished is delivered, the rest goes back.
void Engine::end_forbidden(SteadyTime now) {
  for (const auto& project : projects_)
    for (const auto& [id, unit] : project->units()) {
      if (!unit->prepared || unit->held->stopped()) continue;
      const std::string& application = unit->prepared->manifest.name;
      if (permits(services_.settings, application)) continue;
      spdlog::info("unit {} of {} ends: the preferences do not permit the application {}", id.value,
                   unit->grant().problem_name, application);
      unit->goes_back = true;
      end_at_once(*unit, now);
    }
}

void Engine::apply_order(const protocol::UnitOrder& order, Unit& unit, SteadyTime now) {
  Slot* const slot = slots_.of(unit);
  switch (order.action) {
    case protocol::UnitAction::cancel:
      if (unit.held->stopped()) return;
      spdlog::info("unit {} is cancelled: {}", unit.id().value, order.reason);
      if (slot != nullptr) slot->let_go(now);
      unit.order_reason = order.reason;
      return unit.stop();
    case protocol::UnitAction::pause:
      unit.held_back = true;
      unit.order_reason = order.reason.empty() ? "the server paused the problem" : order.reason;
      return;
    case protocol::UnitAction::go_on:
      break;
  }
  unit.held_back = false;
  if (order.end >= unit.held->end()) return;
  spdlog::info("unit {} now ends before item {}: {}", unit.id().value, order.end, order.reason);
  unit.held->trim(order.end);
  if (!unit.held->complete()) {
    if (slot != nullptr) slot->trim(order.end);
    return;
  }
  if (slot != nullptr) slot->let_go(now);
  unit.stop();
}

void Engine::apply_decision(SteadyTime now) {
  // Cores that the level of this moment leaves.
  int left = decision_.cores < services_.settings.cores ? decision_.cores : std::numeric_limits<int>::max();
  std::vector<Slot*> held, running;
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr) continue;
    const Unit& unit = *slot->unit();
    const bool hold = decision_.mode == RunMode::pause || unit.held_back ||
                      projects_.of(unit).terms().suspended || slot->threads() > left || saved(*slot);
    if (!hold) left -= slot->threads();
    (hold ? held : running).push_back(slot.get());
  }
  // All of them stop before anything else is done for any of them.
  for (Slot* const slot : held) slot->hold();
  for (Slot* const slot : held) slot->pause(now);
  int cores = 0;
  for (Slot* const slot : running) {
    slot->resume(now);
    cores += slot->threads();
    // The owner wants fewer cores used than before.
    if (cores > services_.settings.cores && cores > slot->threads()) slot->let_go(now);
  }
}

// The pause that its owner asked for waits for others, and this one is saved.
bool Engine::saved(const Slot& slot) const {
  return !unsaved_.empty() && !unsaved_.contains(slot.number());
}

bool Engine::must_give_way(const Unit& unit) const {
  return projects_.of(unit).terms().suspended || (projects_.several() && unit.held_back);
}

// A kernel that is paused for long gives its memory back. What it finished is on disk; the item that it was
// at is saved first where the kernel can, else it begins anew. At once, if other projects may use the slot.
void Engine::give_back(SteadyTime now) {
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr || !slot->paused()) continue;
    const bool gives_way = decision_.mode != RunMode::pause && must_give_way(*slot->unit());
    const SteadyTime at = slot->paused_at() + (gives_way ? Duration{0} : owner_settings_.give_back_after);
    if (now < at) {
      alarm_.at(at);
      continue;
    }
    if (slot->saving(now)) continue;
    spdlog::info("slot {}: paused for {}: the kernel ends and gives its memory back", slot->number(),
                 client_policy::rough_text(now - slot->paused_at()));
    slot->take_away(now);
  }
}

Engine::Waiting Engine::next_for(const Slot& slot) const {
  Waiting best;
  for (const auto& project : projects_) {
    if (project->terms().suspended || !project->trusted()) continue;
    const auto& units = project->units();
    const auto first = std::find_if(units.begin(), units.end(), [&slot](const auto& entry) {
      return entry.second->slot == slot.number() && entry.second->wants_kernel();
    });
    if (first == units.end()) continue;
    if (best.unit == nullptr || accounts_.virtual_time(*project) < accounts_.virtual_time(*best.project))
      best = {project.get(), first->second.get()};
  }
  return best;
}

void Engine::start_units(SteadyTime now) {
  if (decision_.mode == RunMode::pause || !unsaved_.empty()) return;
  std::map<std::tuple<SteadyTime, std::string, UnitId>, std::pair<Slot*, Waiting>> waiting;  // oldest first
  for (const auto& slot : slots_) {
    if (!slot->ready(now) || now < slot->start_at()) continue;
    if (const Waiting next = next_for(*slot); next.unit != nullptr)
      waiting[{next.unit->granted_at, next.project->names().key, next.unit->id()}] = {slot.get(), next};
  }
  for (const auto& [age, pair] : waiting) {
    const auto& [slot, next] = pair;
    Unit* const unit = next.unit;
    const int threads = unit->prepared->manifest.threads;
    const int wanted =
        std::clamp(threads == 0 ? services_.settings.cores : threads, 1, services_.settings.cores);
    // Younger ones wait as well, or a kernel with several threads would never find its cores free.
    const int used = slots_.cores_in_use();
    if (used + wanted > decision_.cores) break;
    if (const Status trusted = next.project->check(*unit); !trusted.ok()) {
      if (next.project->clock_is_early(*unit)) {  // no fault of the application: it waits for the right time
        unit->order_reason = trusted.error().message;
        continue;
      }
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

}  // namespace gleaner::engine
