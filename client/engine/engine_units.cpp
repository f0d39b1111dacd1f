// Engine: which project a slot asks, and from a prepared unit to a running kernel.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "client/engine/benchmark.h"
#include "client/engine/engine.h"
#include "client/engine/usage.h"
#include "client/policy/prefetch.h"
#include "client/policy/proposal.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {
constexpr Duration benchmark_interval = std::chrono::hours{24};

constexpr Duration benchmark_patience = std::chrono::seconds{10};  // the first request waits so long for it
constexpr Duration shares_save_interval = std::chrono::hours{1};
}  // namespace

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
  if (!benchmark_ && now - opened_ < benchmark_patience) {
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
  request.benchmark = benchmark_;
  if (!services_.settings.applications.empty()) request.applications = services_.settings.applications;
  client_policy::ProposalView view;
  view.benchmark_mflops = benchmark_ ? benchmark_->mflops : 0;
  view.cpu_share = services_.settings.cpu_share;
  view.slowest_performance = project.talk().slowest_performance();
  view.foreign_unloaded = foreign_unloaded_;
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

void Engine::start_benchmark(SteadyTime now) {
  if (services_.settings.benchmark_mflops || benchmark_running_ || stopping_ || all_revoked()) return;
  if (now < benchmark_at_) return alarm_.at(benchmark_at_);
  const bool fresh = benchmark_ && services_.clock.now() - benchmark_->measured_at < benchmark_interval &&
                     services_.clock.now() >= benchmark_->measured_at;
  // The first one at once; later ones when no kernel runs, or when waiting for that takes too long.
  if (fresh || (benchmark_ && cores_in_use() > 0)) {
    benchmark_at_ = now + std::chrono::minutes{10};
    return alarm_.at(benchmark_at_);
  }
  benchmark_running_ = true;
  services_.workers.submit(Lane::background, [this](JobContext&) -> Completion {
    services_.machine.lower_thread_priority();
    const auto measured = run_linpack();
    return [this, measured] {
      benchmark_running_ = false;
      benchmark_at_ = services_.clock.steady() + benchmark_interval;
      if (!measured.ok()) return spdlog::error("{}", measured.error().message);
      benchmark_ = protocol::Benchmark{measured->mflops, services_.clock.now()};
      foreign_unloaded_ = 0;
      spdlog::info("benchmark: {:.0f} MFLOP/s", measured->mflops);
      if (const Status saved = services_.files.write(services_.state.benchmark(),
                                                     protocol::encode(*benchmark_), io::Mode::normal);
          !saved.ok())
        spdlog::warn("{}", saved.error().message);
    };
  });
}

}  // namespace gleaner::engine
