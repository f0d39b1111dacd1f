// Engine: which project a slot asks for work, what it says of this computer, and what each project had of it.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/engine/engine.h"
#include "client/engine/usage.h"
#include "client/policy/prefetch.h"
#include "client/policy/proposal.h"
#include "shared/base/limits.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {
constexpr Duration benchmark_patience = std::chrono::seconds{10};  // the first request waits so long for it
constexpr Duration shares_save_interval = std::chrono::hours{1};
}  // namespace

client_policy::PrefetchView Engine::prefetch_view(const Slot& slot, SteadyTime now) const {
  client_policy::PrefetchView view;
  view.busy = slot.unit() != nullptr;
  for (const auto& project : projects_) {
    for (const auto& [id, unit] : project->units())
      if (unit->slot == slot.number() && unit.get() != slot.unit() && unit->state != UnitState::committing &&
          !must_give_way(*unit))
        view.has_waiting = true;
    view.round_trip = std::max(view.round_trip, project->talk().round_trip());
    view.preparation = std::max(view.preparation, project->preparation());
  }
  view.remaining = view.busy && !slot.paused() ? slot.remaining(now) : std::nullopt;
  return view;
}

std::vector<protocol::SlotRequest> Engine::slots_for(const Membership& project, SteadyTime now) {
  std::vector<protocol::SlotRequest> requests;
  if (decision_.mode == RunMode::pause || controls_.finish || stopping_ || disk_low_) return requests;
  if (!measurements_.benchmark() && now - opened_ < benchmark_patience) {
    alarm_.at(opened_ + benchmark_patience);
    return requests;
  }
  std::vector<client_policy::ProjectClaim> claims;
  for (const auto& one : projects_)
    claims.push_back({one->key(), one->share() > 0 ? one->share() : 1, one->ahead(), false});
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
    bool asked = false;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      asked = asked || projects_[i]->talk().asks(slot->number(), now);
      claims[i].askable = projects_[i]->askable(now, urgent);
    }
    const std::size_t chosen = shares_.next(claims);
    if (asked || chosen == claims.size()) continue;
    claims[chosen].ahead += projects_[chosen]->unit_seconds();
    if (projects_[chosen].get() == &project) requests.push_back({slot->number(), urgent});
  }
  return requests;
}

void Engine::describe(protocol::WorkRequest& request, const Membership& project) {
  request.platforms = services_.machine.platforms();
  request.memory_bytes = services_.settings.memory_bytes;
  request.cores = services_.settings.cores;
  request.benchmark = measurements_.benchmark();
  request.speeds = measurements_.speeds();
  if (!services_.settings.applications.empty()) request.applications = services_.settings.applications;
  client_policy::ProposalView view;
  view.benchmark_mflops = measurements_.mflops();
  view.cpu_share = services_.settings.cpu_share;
  view.watts_per_core = services_.settings.watts_per_core;
  view.slowest_performance = project.talk().slowest_performance();
  double own = 0;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr && !slot->paused()) own += services_.settings.cpu_share * slot->threads();
  const double foreign = std::max(0.0, services_.machine.runnable_jobs() - own);
  view.foreign_current = foreign / std::max(1, services_.machine.cores());
  request.proposal = client_policy::propose(view);
}

void Engine::charge_projects(SteadyTime now) {
  for (const auto& project : projects_) {
    if (const double used = project->take_used(); used > 0)
      shares_.charge(project->key(), used, project->share() > 0 ? project->share() : 1);
    shares_.set_contends(project->key(), project->contends());
  }
  if (now - shares_saved_ >= shares_save_interval) save_shares(now);
}

// One project alone needs no account.
void Engine::save_shares(SteadyTime now) {
  shares_saved_ = now;
  if (!several()) return;
  if (const Status saved = save_usage(services_.files, services_.state.shares(), shares_.uses()); !saved.ok())
    spdlog::warn("what each project had is not kept: {}", saved.error().message);
}

void Engine::talk(SteadyTime now) {
  // A finished unit's last commit waits a moment for the work request that is about to be sent.
  SteadyTime ride = now;
  for (const auto& slot : slots_) {
    const auto until = client_policy::until_ask(prefetch_view(*slot, now));
    if (until && *until <= std::chrono::seconds{1} && !stopping_)
      ride = now + *until + std::chrono::milliseconds{50};
    if (until) alarm_.at(now + *until);
  }
  for (const auto& project : projects_) {
    project->set_no_network(no_network_);
    project->tick(now, ride, stopping_ ? Closing::yes : Closing::no, alarm_);
    if (several() && project->talk().busy() && now <= project->talk().answer_due())
      alarm_.at(project->talk().answer_due() + std::chrono::milliseconds{1});
  }
}

}  // namespace gleaner::engine
