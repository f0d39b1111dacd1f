// Engine: what it says to the server, and what it does with the answers (TalkOwner).
#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/engine/engine.h"
#include "client/policy/prefetch.h"
#include "client/policy/proposal.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {

constexpr std::size_t outbox_max = 256;  // results without an answer: then no more is taken
constexpr Duration benchmark_patience = std::chrono::seconds{10};  // the first request waits so long for it

protocol::RunState run_state(UnitState state) {
  switch (state) {
    case UnitState::running:
      return protocol::RunState::running;
    case UnitState::paused:
      return protocol::RunState::paused;
    case UnitState::granted:
    case UnitState::preparing:
    case UnitState::waiting:
    case UnitState::committing:
    case UnitState::closed:
      break;
  }
  return protocol::RunState::waiting;
}

}  // namespace

client_policy::PrefetchView Engine::prefetch_view(const Slot& slot, SteadyTime now) const {
  client_policy::PrefetchView view;
  view.busy = slot.unit() != nullptr;
  for (const auto& [id, unit] : units_)
    if (unit->slot == slot.number() && unit.get() != slot.unit() && unit->state != UnitState::committing)
      view.has_waiting = true;
  view.remaining = view.busy && !slot.paused() ? slot.remaining(now) : std::nullopt;
  view.round_trip = talk_.round_trip();
  view.preparation = preparation_;
  return view;
}

std::vector<protocol::SlotRequest> Engine::wanted(SteadyTime now) {
  std::vector<protocol::SlotRequest> requests;
  const bool allowed = decision_.mode != RunMode::pause && !controls_.finish && !stopping_ && !disk_low_ &&
                       deliveries_.waiting() < outbox_max;
  if (!allowed) return requests;
  if (!benchmark_ && now - opened_ < benchmark_patience) {
    alarm_.at(opened_ + benchmark_patience);
    return requests;
  }
  int cores = cores_in_use();
  for (const auto& slot : slots_) {
    if (requests.size() >= static_cast<std::size_t>(limits::units_per_request_max)) break;
    const client_policy::Ask ask = client_policy::should_ask(prefetch_view(*slot, now));
    if (ask == client_policy::Ask::no) continue;
    const bool urgent = ask == client_policy::Ask::now;
    if (urgent && now < slot->start_at()) {
      alarm_.at(slot->start_at());
      continue;
    }
    // Cores that a kernel with several threads takes are not free.
    if (urgent && ++cores > services_.settings.cores) break;
    requests.push_back({slot->number(), urgent});
  }
  return requests;
}

std::vector<protocol::UnitReport> Engine::reports(SteadyTime now) {
  std::vector<protocol::UnitReport> reports;
  for (const auto& [id, unit] : units_) {
    if (reports.size() >= static_cast<std::size_t>(limits::units_per_host_max)) break;
    protocol::UnitReport report;
    report.unit = id;
    report.finished = unit->held->finished();
    report.state = run_state(unit->state);
    if (report.state != protocol::RunState::running && decision_.mode == RunMode::pause &&
        unit->state != UnitState::committing) {
      report.state = protocol::RunState::paused;
      report.reason = decision_.reason;
    } else if (unit->held_back || !unit->order_reason.empty()) {
      report.reason = unit->order_reason;
    }
    if (const Slot* slot = slot_of(*unit)) {
      report.rate = report.state == protocol::RunState::running ? slot->rate().rate(now) : 0;
      report.item_seconds = to_seconds(slot->rate().on_item(now));
      report.running_seconds = to_seconds(slot->rate().on_unit(now));
    }
    report.reason = protocol::clean_line(report.reason, limits::message_length_max);
    reports.push_back(std::move(report));
  }
  return reports;
}

void Engine::describe(protocol::WorkRequest& request, SteadyTime) {
  request.platforms = services_.machine.platforms();
  request.memory_bytes = services_.settings.memory_bytes;
  request.cores = services_.settings.cores;
  request.benchmark = benchmark_;
  if (!services_.settings.applications.empty()) request.applications = services_.settings.applications;
  client_policy::ProposalView view;
  view.benchmark_mflops = benchmark_ ? benchmark_->mflops : 0;
  view.cpu_share = services_.settings.cpu_share;
  view.slowest_performance = talk_.slowest_performance();
  view.foreign_unloaded = foreign_unloaded_;
  double own = 0;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr && !slot->paused()) own += services_.settings.cpu_share * slot->threads();
  const double foreign = std::max(0.0, services_.machine.runnable_jobs() - own);
  view.foreign_current = foreign / std::max(1, services_.machine.cores());
  request.proposal = client_policy::propose(view);
}

void Engine::take_grants(const protocol::WorkReply& reply, SteadyTime now) {
  for (std::size_t i = 0; i < reply.grants.size(); ++i) {
    const int slot = i < reply.grant_slots.size() ? reply.grant_slots[i] : 0;
    take_grant(reply.grants[i], std::clamp(slot, 0, static_cast<int>(slots_.size()) - 1), now);
  }
  if (reply.progress) take_progress(*reply.progress);
}

// What was told of a problem stays until something else is told: viewers may still show its picture.
void Engine::take_progress(const std::vector<protocol::ProblemProgress>& progress) {
  std::vector<ProblemStatus> told;
  for (const protocol::ProblemProgress& one : progress)
    for (const auto& [id, unit] : units_)
      if (unit->grant().problem == one.problem) {
        told.push_back({one.problem.value, unit->grant().problem_name, one.items,
                        std::min(one.accepted, one.items), one.hosts});
        break;
      }
  if (!told.empty()) problems_ = std::move(told);
}

void Engine::take_grant(const protocol::SignedStatement& statement, int slot, SteadyTime now) {
  const auto refuse = [this](UnitId unit, protocol::FailureKind kind, const std::string& message) {
    spdlog::error("a unit is not taken: {}", message);
    protocol::FailureReport report;
    report.unit = unit;
    report.kind = kind;
    report.message = protocol::clean_text(message, limits::message_length_max);
    if (unit.valid()) talk_.report_failure(std::move(report));
  };
  const auto trusted = trust_.check_grant(statement, services_.clock.now());
  if (!trusted.ok()) {
    const auto claimed = protocol::decode<protocol::Grant>(statement.payload);
    return refuse(claimed.ok() ? claimed->unit : UnitId{}, protocol::FailureKind::untrusted,
                  trusted.error().message);
  }
  const UnitId id = trusted->grant.unit;
  if (units_.contains(id)) return;  // an answer that was repeated
  const auto& permitted = services_.settings.applications;
  if (!permitted.empty() &&
      std::find(permitted.begin(), permitted.end(), trusted->application.name) == permitted.end())
    return refuse(id, protocol::FailureKind::not_executable,
                  "the owner of this computer does not permit the application " + trusted->application.name);
  auto held = HeldUnit::create(services_.files, services_.state.unit(id), statement, trusted->grant);
  if (!held.ok()) {
    deliveries_.report_disk_trouble(held.error());
    return refuse(id, protocol::FailureKind::resource_limit, held.error().message);
  }
  auto unit = std::make_unique<Unit>(std::move(held).value());
  unit->slot = slot;
  unit->granted_at = now;
  spdlog::info("slot {}: unit {} of {}: items {}-{} ({})", slot, id.value, trusted->grant.problem_name,
               trusted->grant.range.begin, trusted->grant.range.end - 1, trusted->grant.reason);
  units_.emplace(id, std::move(unit));
  prepare_units(now);
  start_units(now);
}

void Engine::take_orders(const std::vector<protocol::UnitOrder>& orders, SteadyTime now) {
  for (const protocol::UnitOrder& order : orders) {
    const auto found = units_.find(order.unit);
    if (found != units_.end()) take_order(*found->second, order, now);
  }
  apply_decision(now);
}

void Engine::take_order(Unit& unit, const protocol::UnitOrder& order, SteadyTime now) {
  Slot* const slot = slot_of(unit);
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

}  // namespace gleaner::engine
