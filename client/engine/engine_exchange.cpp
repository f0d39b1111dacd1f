// Engine: what is wanted of the servers, and said to them: which project a slot asks for work, what this
// computer is, how its units stand.
#include <algorithm>

#include "client/engine/engine.h"
#include "client/policy/proposal.h"
#include "shared/base/limits.h"
#include "shared/protocol/text.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {

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

// Of the project's units whose output somebody looks at; absent: of none.
std::optional<std::vector<protocol::UnitOutput>> outputs(const Membership& project, const Slots& slots) {
  std::vector<protocol::UnitOutput> outputs;
  for (const auto& [id, unit] : project.units()) {
    if (outputs.size() == static_cast<std::size_t>(limits::outputs_per_heartbeat_max)) break;
    const Slot* const slot = unit->output_wanted ? slots.of(*unit) : nullptr;
    if (slot != nullptr)
      outputs.push_back({id, protocol::clean_text(slot->output(), limits::output_bytes_max)});
  }
  if (outputs.empty()) return std::nullopt;
  return outputs;
}

}  // namespace

void Engine::exchange(SteadyTime now) {
  const auto views = prefetch_views(now);
  // A finished unit's last commit waits a moment for the work request that is about to be sent.
  SteadyTime piggyback_until = now;
  for (const client_policy::PrefetchView& view : views) {
    if (const auto wait = client_policy::piggyback_wait(view); wait && !stopping_)
      piggyback_until = now + *wait;
    if (const auto until = client_policy::until_ask(view)) alarm_.at(now + *until);
  }
  for (const auto& project : projects_)
    project->deliver(now, piggyback_until, stopping_ ? Closing::yes : Closing::no, alarm_);
  auto slots = wanted(views, now);
  for (std::size_t i = 0; i < projects_.size(); ++i) {
    Membership& project = projects_[i];
    const Exchange due = project.due(!slots[i].empty(), now, alarm_);
    if (due == Exchange::work) {
      protocol::WorkRequest request = work_request(project);
      request.slots = std::move(slots[i]);
      request.units = reports(project, now);
      request.readings = readings(project, now);
      project.request_work(std::move(request), now);
    } else if (due == Exchange::heartbeat) {
      project.send_heartbeat({.units = reports(project, now),
                              .saved = {},
                              .readings = readings(project, now),
                              .outputs = outputs(project, slots_)},
                             now);
    } else {
      project.send(due, now);
    }
    const ServerSession& session = project.session();
    if (projects_.several() && session.busy() && now <= session.answer_due())
      alarm_.at(session.answer_due() + std::chrono::milliseconds{1});
  }
}

std::vector<client_policy::PrefetchView> Engine::prefetch_views(SteadyTime now) const {
  client_policy::PrefetchView common;
  std::vector<bool> has_waiting(slots_.size());
  for (const auto& project : projects_) {
    for (const auto& [id, unit] : project->units())
      if (unit->state != UnitState::committing && !must_give_way(*unit) && slots_.of(*unit) == nullptr)
        has_waiting[static_cast<std::size_t>(unit->slot)] = true;
    common.round_trip = std::max(common.round_trip, project->session().round_trip());
    common.preparation = std::max(common.preparation, project->preparation());
  }
  std::vector<client_policy::PrefetchView> views(slots_.size(), common);
  for (const auto& slot : slots_) {
    client_policy::PrefetchView& view = views[static_cast<std::size_t>(slot->number())];
    view.busy = slot->unit() != nullptr;
    view.has_waiting = has_waiting[static_cast<std::size_t>(slot->number())];
    view.remaining = view.busy && !slot->paused() ? slot->remaining(now) : std::nullopt;
  }
  return views;
}

bool Engine::asked_already(const Slot& slot, SteadyTime now) const {
  return std::any_of(projects_.begin(), projects_.end(), [&slot, now](const auto& project) {
    return project->session().asks(slot.number(), now);
  });
}

std::vector<std::vector<protocol::SlotRequest>> Engine::wanted(
    const std::vector<client_policy::PrefetchView>& views, SteadyTime now) {
  std::vector<std::vector<protocol::SlotRequest>> requests(projects_.size());
  if (decision_.mode == RunMode::pause || controls_.finish || stopping_ || !unsaved_.empty() ||
      disk_.shortage())
    return requests;
  if (!measurements_.benchmark() && now - opened_ < benchmark_patience) {
    alarm_.at(opened_ + benchmark_patience);
    return requests;
  }
  ProjectAccounts::Round round(accounts_, now);
  int cores = slots_.cores_in_use();
  for (const auto& slot : slots_) {
    const client_policy::PrefetchView& view = views[static_cast<std::size_t>(slot->number())];
    if (!view.busy && view.has_waiting) ++cores;  // that unit takes one soon
    const client_policy::Ask ask = client_policy::should_ask(view);
    if (ask == client_policy::Ask::no) continue;
    const bool urgent = ask == client_policy::Ask::now;
    if (urgent && now < slot->start_at()) {
      alarm_.at(slot->start_at());
      continue;
    }
    // Cores that a kernel with several threads takes are not free.
    if (urgent && ++cores > decision_.cores) break;
    if (asked_already(*slot, now)) continue;
    const auto project = round.next(urgent);
    if (project && requests[*project].size() < static_cast<std::size_t>(limits::units_per_request_max))
      requests[*project].push_back({slot->number(), urgent});
  }
  return requests;
}

// What this host is and proposes.
protocol::WorkRequest Engine::work_request(const Membership& project) const {
  const EngineSettings& settings = services_.settings;
  protocol::WorkRequest request;
  request.platforms = services_.machine.platforms();
  request.memory_bytes = settings.memory_bytes;
  request.cores = settings.cores;
  request.capabilities = settings.capabilities;
  if (settings.cpu_share < 1) request.cpu_share = settings.cpu_share;
  request.benchmark = measurements_.benchmark();
  request.speeds = measurements_.speeds();
  request.proofs = true;
  if (!settings.applications.empty()) request.applications = settings.applications;
  client_policy::ProposalView view;
  view.benchmark_mflops = measurements_.mflops();
  view.cpu_share = settings.cpu_share;
  view.watts_per_core = settings.watts_per_core;
  view.slowest_performance = project.session().slowest_performance();
  double own = 0;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr && !slot->paused()) own += settings.cpu_share * slot->threads();
  const double foreign = std::max(0.0, services_.machine.runnable_jobs() - own);
  view.foreign_current = foreign / std::max(1, services_.machine.cores());
  request.proposal = client_policy::propose(view);
  return request;
}

std::optional<protocol::Readings> Engine::readings(const Membership& project, SteadyTime now) {
  if (!project.readings_due(now)) return std::nullopt;
  return readings_meter_.measure(services_.machine, owner_.celsius(), now);
}

// How its units stand.
std::vector<protocol::UnitReport> Engine::reports(const Membership& project, SteadyTime now) const {
  std::vector<protocol::UnitReport> reports;
  for (const auto& [id, unit] : project.units()) {
    if (reports.size() >= static_cast<std::size_t>(limits::units_per_host_max)) break;
    protocol::UnitReport report;
    report.unit = id;
    report.finished = unit->held->finished();
    report.state = run_state(unit->state);
    const bool over = unit->state == UnitState::committing;
    if (report.state != protocol::RunState::running && decision_.mode == RunMode::pause && !over) {
      report.state = protocol::RunState::paused;
      report.reason = client_policy::told_to_project(decision_);
    } else if (project.terms().suspended && !over) {
      report.state = protocol::RunState::paused;
      report.reason = "the owner of this computer suspended the project";
    } else if (report.state == protocol::RunState::paused && !unit->held_back) {
      report.reason = client_policy::told_to_project(decision_);
    } else if (unit->held_back || !unit->order_reason.empty()) {
      report.reason = unit->order_reason;
    }
    if (const Slot* slot = slots_.of(*unit)) {
      report.rate = report.state == protocol::RunState::running ? slot->rate().rate(now) : 0;
      report.item_seconds = to_seconds(slot->rate().on_item(now));
      report.item_share = slot->item_fraction(now);
      report.running_seconds = to_seconds(slot->rate().on_unit(now));
    }
    report.reason = protocol::clean_line(report.reason, limits::message_length_max);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace gleaner::engine
