// Engine: what it says of itself to its owner.
#include <algorithm>

#include "client/engine/engine.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {

std::string seconds_text(Duration wait) {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
  return std::to_string(seconds) + " s";
}

std::string signed_text(Duration drift) {
  return drift < Duration{0} ? "-" + client_policy::rough_text(-drift) : client_policy::rough_text(drift);
}

constexpr std::size_t told_max = 3;  // projects, in one sentence

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string all;
  for (std::size_t i = 0; i < texts.size() && i < told_max; ++i) all += (i == 0 ? "" : between) + texts[i];
  return texts.size() > told_max ? all + between + std::to_string(texts.size() - told_max) + " more" : all;
}

}  // namespace

std::string Engine::told(const Membership& project, const std::string& text) const {
  return several() ? project.names().name + ": " + text : text;
}

std::string Engine::explain(SteadyTime now) const {
  if (decision_.mode == RunMode::pause) return "not computing: " + decision_.reason;
  if (const std::string what = computing(); !what.empty()) return what + ": " + decision_.reason;
  if (!no_network_.empty()) return "not computing: no work may be fetched: " + no_network_;
  std::vector<std::string> unreachable;
  for (const auto& project : projects_)
    if (const std::string why = project->unreachable(); !why.empty())
      unreachable.push_back(told(*project, why));
  if (unreachable.size() == projects_.size()) return "not computing: " + joined(unreachable, "; ");
  if (disk_low_) return "not computing: " + *disk_low_;
  for (const auto& project : projects_)
    if (const std::string why = project->waiting_for(); !why.empty()) return why;
  if (controls_.finish) return "not computing: you asked to finish: `gleaner resume` takes work again";
  for (const auto& slot : slots_)
    if (slot->start_at() > now)
      return "not computing: a kernel failed lately; the next try is in " +
             seconds_text(slot->start_at() - now);
  if (!measurements_.benchmark()) return "not computing yet: measuring how fast this computer is";
  std::vector<std::string> idle;
  for (const auto& project : projects_) {
    std::string why = project->unreachable();
    if (why.empty()) why = project->without_work(now);
    if (why.empty()) return "not computing yet: asking the server for work";
    idle.push_back(told(*project, why));
  }
  return "not computing: " + joined(idle, "; ");
}

// "computing X on 1 of 2 cores"; with several projects "computing X (P) and Y (Q) on 2 of 2 cores".
std::string Engine::computing() const {
  int running = 0;
  std::vector<std::string> problems;
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr || slot->paused()) continue;
    running += slot->threads();
    const std::string& problem = slot->unit()->grant().problem_name;
    const std::string named =
        several() ? problem + " (" + owner_of(*slot->unit()).names().name + ")" : problem;
    if (std::find(problems.begin(), problems.end(), named) == problems.end()) problems.push_back(named);
  }
  if (running == 0) return {};
  const std::string what = several() ? joined(problems, " and ") : problems.back();
  return "computing " + what + " on " + std::to_string(running) + " of " + std::to_string(slots_.size()) +
         (slots_.size() == 1 ? " core" : " cores");
}

SlotStatus Engine::status_of(const Slot& slot, SteadyTime now) const {
  SlotStatus view;
  view.slot = slot.number();
  view.state = "idle";
  const Unit* unit = slot.unit();
  for (const auto& project : projects_)
    for (const auto& [id, other] : project->units())
      if (unit == nullptr && other->slot == slot.number() && other->state != UnitState::committing)
        unit = other.get();
  if (unit == nullptr) return view;
  view.state = client_policy::name_of(unit->state);
  view.project = owner_of(*unit).names().name;
  view.problem = unit->grant().problem_name;
  view.unit = unit->id().value;
  view.range = {unit->grant().range.begin, unit->held->end()};
  view.finished = unit->held->finished();
  if (unit->prepared)
    view.application = unit->prepared->manifest.name + "@" + unit->prepared->manifest.version;
  if (unit == slot.unit()) {
    view.rate = slot.rate().rate(now);
    if (const auto left = slot.remaining(now)) view.remaining_seconds = to_seconds(*left);
  }
  view.reason = decision_.mode == RunMode::pause ? decision_.reason : unit->order_reason;
  return view;
}

std::string Engine::state_of(const Membership& project, SteadyTime now) const {
  if (const std::string why = project.unreachable(); !why.empty()) return why;
  if (decision_.mode == RunMode::pause) return "not computing: " + decision_.reason;
  const auto cores = std::count_if(slots_.begin(), slots_.end(), [&project](const auto& slot) {
    return slot->unit() != nullptr && !slot->paused() && project.holds(*slot->unit());
  });
  if (cores > 0) return "computing on " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
  if (std::string why = project.waiting_for(); !why.empty()) return why;
  if (std::string why = project.without_work(now); !why.empty()) return why;
  return project.units().empty() ? "asked when its turn comes" : "its turn comes";
}

void Engine::add_project(EngineStatus& status, const Membership& project, SteadyTime now) const {
  ProjectStatus one = project.status();
  one.recent_part = several() ? shares_.recent_part(project.key()) : 1;
  one.state = state_of(project, now);
  const Totals& totals = project.deliveries().totals();
  status.items_accepted += totals.items_accepted;
  status.commits_accepted += totals.commits_accepted;
  status.commits_duplicate += totals.commits_duplicate;
  status.commits_refused += totals.commits_refused;
  status.items_today += one.items_today;
  status.items_week += one.items_week;
  status.items_total += one.items_total;
  status.outbox += one.outbox;
  status.units_in_hand += one.units_in_hand;
  status.work_requests += project.talk().work_requests();
  if (const auto contact = project.talk().last_contact()) {
    const double ago = to_seconds(now - *contact);
    if (status.last_contact_seconds < 0 || ago < status.last_contact_seconds)
      status.last_contact_seconds = ago;
  }
  const std::string& trouble = project.talk().trouble();
  if (status.trouble.empty() && !trouble.empty()) status.trouble = told(project, trouble);
  for (const ProblemStatus& problem : project.problems()) status.problems.push_back(problem);
  if (several()) status.details.push_back("project " + one.name + ": " + one.state);
  // Not in the sentence: that stays as it is while time goes by.
  const SteadyTime ask_at = std::max(project.talk().work_at(), project.talk().silent_until());
  const bool wants_work = decision_.mode != RunMode::pause && cores_in_use() == 0 && !controls_.finish;
  if (wants_work && ask_at > now && !one.suspended && one.share > 0)
    status.details.push_back(told(project, "work: asking again in " + seconds_text(ask_at - now)));
  if (!trouble.empty()) status.details.push_back(told(project, "connection: " + trouble));
  status.projects.push_back(std::move(one));
}

EngineStatus Engine::status() const {
  const SteadyTime now = services_.clock.steady();
  const Identity& first = projects_.front()->identity();
  EngineStatus status;
  status.server = first.code.base_url();
  status.project = to_hex(first.code.root_fingerprint);
  if (first.project) status.project_name = first.project_name();
  status.host = first.host.host.value;
  status.host_name = first.name;
  status.mode = client_policy::name_of(decision_.mode);
  status.reason = explain(now);
  status.cpu_share = services_.settings.cpu_share;
  status.cores = services_.settings.cores;
  status.finishing = controls_.finish;
  status.revoked = all_revoked();
  status.benchmark_mflops = measurements_.mflops();
  status.all_cores_mflops = measurements_.speeds().all_cores_mflops;
  status.memory_bytes_per_second = measurements_.speeds().memory_bytes_per_second;
  for (const auto& slot : slots_) status.slots.push_back(status_of(*slot, now));
  status.uptime_seconds = to_seconds(now - opened_);
  status.details.push_back("confinement of kernels: " + services_.launcher.describe());
  if (!no_network_.empty()) status.details.push_back("network: " + no_network_);
  if (disk_low_) status.details.push_back(*disk_low_);
  for (const std::string& one : observed_) status.details.push_back(one);
  if (leap_)
    status.details.push_back("clock: moved by " + signed_text(leap_->by) + " " +
                             client_policy::rough_text(now - leap_->at) +
                             " ago: this computer slept, or its clock was set");
  for (const auto& project : projects_) add_project(status, *project, now);
  return status;
}

}  // namespace gleaner::engine
