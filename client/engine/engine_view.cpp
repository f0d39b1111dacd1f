#include "client/engine/engine_view.h"

#include <algorithm>

#include "shared/base/figures.h"

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

// Why what is in hand is not computed.
std::string waiting_for(const Membership& project) {
  if (project.trusted())
    for (const auto& [id, unit] : project.units())
      if (!unit->order_reason.empty() && project.clock_is_early(*unit))
        return "not computing: " + unit->order_reason;
  for (const auto& [id, unit] : project.units())
    if (unit->held_back && !unit->held->stopped()) return "not computing: " + unit->order_reason;
  for (const auto& [id, unit] : project.units())
    if (unit->state == UnitState::granted || unit->state == UnitState::preparing) {
      const std::string what = "not computing yet: fetching what " + unit->grant().problem_name + " needs";
      if (const auto fetching = project.fetching()) return what + ": " + transport::text_of(*fetching);
      return what + (unit->order_reason.empty() ? "" : " (" + unit->order_reason + ")");
    }
  return {};
}

std::string without_work(const Membership& project, SteadyTime now) {
  const std::string& why = project.session().no_work_reason();
  if (project.session().work_at() <= now && why.empty()) return {};
  return "no work available for this computer right now" + (why.empty() ? "" : " (" + why + ")");
}

std::string only_applications(const EngineSettings& settings) {
  if (settings.applications.empty()) return {};
  return "; the preference applications permits only " + joined(settings.applications, ", ");
}

// With the project's name before it, if there are several.
std::string told(const EngineView& engine, const Membership& project, const std::string& text) {
  return engine.projects.several() ? project.names().name + ": " + text : text;
}

// "computing X on 1 of 2 cores", "computing X and Y on 2 of 2 cores"; with several projects "X (P) and Y
// (Q)".
std::string computing(const EngineView& engine) {
  int running = 0;
  std::vector<std::string> problems;
  for (const auto& slot : engine.slots) {
    if (slot->unit() == nullptr || slot->paused()) continue;
    running += slot->threads();
    const std::string& problem = slot->unit()->grant().problem_name;
    const std::string named = engine.projects.several()
                                  ? problem + " (" + engine.projects.of(*slot->unit()).names().name + ")"
                                  : problem;
    if (std::find(problems.begin(), problems.end(), named) == problems.end()) problems.push_back(named);
  }
  if (running == 0) return {};
  return "computing " + joined(problems, " and ") + " on " + std::to_string(running) + " of " +
         counted(static_cast<std::int64_t>(engine.slots.size()), "core");
}

// What needs more cores at once than the level of this moment leaves.
std::string too_wide(const EngineView& engine) {
  for (const auto& project : engine.projects)
    for (const auto& [id, unit] : project->units()) {
      if (!unit->prepared || unit->state == UnitState::committing) continue;
      const int threads = unit->prepared->manifest.threads;
      const int wanted = threads == 0 ? engine.services.settings.cores : threads;
      if (wanted > engine.decision.cores && engine.decision.cores < engine.services.settings.cores)
        return "not computing: " + unit->grant().problem_name + " needs " + std::to_string(wanted) +
               " cores at once; " + engine.decision.reason;
    }
  return {};
}

// What it would say if nobody had asked it to finish.
std::string reason(const EngineView& engine, SteadyTime now) {
  if (engine.decision.mode == RunMode::pause) return "not computing: " + engine.decision.reason;
  if (const std::string what = computing(engine); !what.empty()) return what + ": " + engine.decision.reason;
  if (!engine.no_network.empty()) return "not computing: no work may be fetched: " + engine.no_network;
  std::vector<std::string> reasons;
  for (const auto& project : engine.projects)
    if (const std::string why = unreachable(*project); !why.empty())
      reasons.push_back(told(engine, *project, why));
  if (reasons.size() == engine.projects.size()) return "not computing: " + joined(reasons, "; ");
  if (engine.disk_shortage) return "not computing: " + *engine.disk_shortage;
  for (const auto& project : engine.projects)
    if (const std::string why = waiting_for(*project); !why.empty()) return why;
  if (const std::string why = too_wide(engine); !why.empty()) return why;
  if (engine.finishing) return "not computing: you asked to finish: `gleaner resume` takes work again";
  for (const auto& slot : engine.slots)
    if (slot->start_at() > now)
      return "not computing: a kernel failed recently; the next attempt is in " +
             seconds_text(slot->start_at() - now);
  if (!engine.measurements.benchmark()) return "not computing yet: measuring how fast this computer is";
  std::vector<std::string> idle;
  for (const auto& project : engine.projects) {
    std::string why = unreachable(*project);
    if (why.empty()) why = without_work(*project, now);
    if (why.empty()) return "not computing yet: asking the server for work";
    idle.push_back(told(engine, *project, why));
  }
  return "not computing: " + joined(idle, "; ") + only_applications(engine.services.settings);
}

std::string explain(const EngineView& engine, SteadyTime now) {
  const std::string said = reason(engine, now);
  if (!engine.finishing || engine.projects.nothing_in_hand()) return said;
  return said + "; you asked to finish: no new work is fetched until `gleaner resume`";
}

SlotStatus status_of(const EngineView& engine, const Slot& slot, SteadyTime now) {
  SlotStatus view;
  view.slot = slot.number();
  view.state = "idle";
  const Unit* unit = slot.unit();
  for (const auto& project : engine.projects)
    for (const auto& [id, other] : project->units())
      if (unit == nullptr && other->slot == slot.number() && other->state != UnitState::committing)
        unit = other.get();
  if (unit == nullptr) return view;
  view.state = client_policy::name_of(unit->state);
  view.project = engine.projects.of(*unit).names().name;
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
  view.reason = engine.decision.mode == RunMode::pause ? engine.decision.reason : unit->order_reason;
  return view;
}

std::string state_of(const EngineView& engine, const Membership& project, SteadyTime now) {
  if (const std::string why = unreachable(project); !why.empty()) return why;
  if (engine.decision.mode == RunMode::pause) return "not computing: " + engine.decision.reason;
  const auto cores = std::count_if(engine.slots.begin(), engine.slots.end(), [&project](const auto& slot) {
    return slot->unit() != nullptr && !slot->paused() && project.holds(*slot->unit());
  });
  if (cores > 0) return "computing on " + counted(cores, "core");
  if (std::string why = waiting_for(project); !why.empty()) return why;
  if (std::string why = without_work(project, now); !why.empty()) return why;
  return project.units().empty() ? "asked when its turn comes" : "its turn comes";
}

// What became of its relay.
std::string place_of(const Membership& project) {
  const state::Identity& identity = project.identity();
  if (!identity.code.fallback || !identity.unheard) return identity.moved;
  return "its relay has not answered since " + local_text(*identity.unheard) + ": from " +
         local_text(*identity.unheard + project.terms().relay_patience) +
         " on this computer joins the project at " + identity.code.fallback_code().base_url();
}

ProjectStatus project_status(const EngineView& engine, const Membership& project, SteadyTime now) {
  ProjectStatus status;
  status.key = project.names().key;
  status.name = project.names().name;
  status.server = project.names().server;
  status.host = project.identity().host.host.value;
  if (const auto contact = project.session().last_contact())
    status.last_contact_seconds = to_seconds(now - *contact);
  status.share = project.terms().share;
  status.recent_part = engine.accounts.recent_part(project);
  status.suspended = project.terms().suspended;
  status.revoked = project.standing() == Standing::revoked;
  status.place = place_of(project);
  status.units_in_hand = static_cast<std::int64_t>(project.units().size());
  status.outbox = static_cast<std::int64_t>(project.deliveries().waiting());
  const receipts::Contribution given =
      project.deliveries().receipts().contribution(engine.services.clock.now());
  status.items_today = given.today;
  status.items_week = given.week;
  status.items_total = given.total;
  return status;
}

void add_project(const EngineView& engine, EngineStatus& status, const Membership& project, SteadyTime now) {
  ProjectStatus one = project_status(engine, project, now);
  one.state = state_of(engine, project, now);
  const Totals& totals = project.deliveries().totals();
  status.items_accepted += totals.items_accepted;
  status.commits_accepted += totals.commits_accepted;
  status.commits_duplicate += totals.commits_duplicate;
  status.commits_refused += totals.commits_refused;
  if (!totals.last_refusal.empty()) status.last_refusal = totals.last_refusal;
  status.items_today += one.items_today;
  status.items_week += one.items_week;
  status.items_total += one.items_total;
  status.outbox += one.outbox;
  status.units_in_hand += one.units_in_hand;
  status.work_requests += project.session().work_requests();
  if (one.last_contact_seconds >= 0 &&
      (status.last_contact_seconds < 0 || one.last_contact_seconds < status.last_contact_seconds))
    status.last_contact_seconds = one.last_contact_seconds;
  const std::string& trouble = project.session().trouble();
  if (status.trouble.empty() && !trouble.empty()) status.trouble = told(engine, project, trouble);
  for (const ProblemStatus& problem : project.problems()) {
    status.problems.push_back(problem);
    for (const auto& [id, unit] : project.units())
      status.problems.back().in_hand |= unit->grant().problem.value == problem.problem;
  }
  if (engine.projects.several()) status.details.push_back("project " + one.name + ": " + one.state);
  if (!one.place.empty()) status.details.push_back(told(engine, project, one.place));
  // Not in the sentence: that stays as it is while time goes by.
  const SteadyTime ask_at = std::max(project.session().work_at(), project.session().silent_until());
  const bool wants_work =
      engine.decision.mode != RunMode::pause && engine.slots.cores_in_use() == 0 && !engine.finishing;
  if (wants_work && ask_at > now && !one.suspended && one.share > 0)
    status.details.push_back(told(engine, project, "work: asking again in " + seconds_text(ask_at - now)));
  if (!trouble.empty()) status.details.push_back(told(engine, project, "connection: " + trouble));
  if (const auto fetching = project.fetching())
    status.details.push_back(told(engine, project, "fetching a file: " + transport::text_of(*fetching)));
  if (const auto sending = project.deliveries().sending())
    status.details.push_back(told(engine, project, "delivering a result: " + transport::text_of(*sending)));
  status.projects.push_back(std::move(one));
}

}  // namespace

std::string unreachable(const Membership& project) {
  const std::string& key = project.names().key;
  const std::string& trouble = project.session().trouble();
  const std::string why = trouble.empty() ? "" : " (" + trouble + ")";
  switch (project.standing()) {
    case Standing::revoked:
      return "the project's administrator has removed this computer" + why +
             ". Ask them for a new join code if this is a mistake";
    case Standing::unknown:
      return "the server does not know this host, as after it was restored from a backup: this computer "
             "joins "
             "again by itself" +
             why;
    case Standing::copy:
      return "another computer uses the identity of this one, as after its disk was copied: what is finished "
             "is "
             "delivered, then this computer joins as a host of its own" +
             why;
    case Standing::served:
      break;
  }
  if (project.terms().suspended)
    return "you suspended it: `gleaner projects resume " + key + "` takes it up again";
  if (project.terms().share == 0)
    return "it has no share: `gleaner projects share " + key + " 1` takes work from it again";
  if (!trouble.empty()) return "the server cannot be asked for work (" + trouble + ")";
  return {};
}

EngineStatus status_of(const EngineView& engine, SteadyTime now) {
  const state::Identity& first = engine.projects[0].identity();
  EngineStatus status;
  status.server = first.code.base_url();
  status.project = to_hex(first.code.root_fingerprint);
  if (first.project) status.project_name = first.project_name();
  status.host = first.host.host.value;
  status.host_name = first.name;
  status.mode = client_policy::name_of(engine.decision.mode);
  status.reason = explain(engine, now);
  status.cpu_share = engine.services.settings.cpu_share;
  status.cores = engine.services.settings.cores;
  status.cpu_share_now = engine.decision.mode == RunMode::pause ? 0 : engine.decision.cpu_share;
  status.cores_now = engine.decision.mode == RunMode::pause ? 0 : engine.decision.cores;
  status.computer_cores = engine.services.settings.computer_cores;
  status.finishing = engine.finishing;
  status.revoked = engine.projects.all_revoked();
  status.benchmark_mflops = engine.measurements.mflops();
  status.all_cores_mflops = engine.measurements.speeds().all_cores_mflops;
  status.memory_bytes_per_second = engine.measurements.speeds().memory_bytes_per_second;
  for (const auto& slot : engine.slots)  // not those for which there is no processor
    if (slot->number() < status.cores || slot->unit() != nullptr)
      status.slots.push_back(status_of(engine, *slot, now));
  status.uptime_seconds = to_seconds(now - engine.opened);
  status.details.push_back("confinement of kernels: " + engine.services.launcher.describe());
  if (const std::string& limit = engine.services.settings.limit; !limit.empty())
    status.details.push_back(limit);
  if (!engine.services.settings.applications.empty())
    status.details.push_back("applications: only " + joined(engine.services.settings.applications, ", "));
  if (!engine.no_network.empty()) status.details.push_back("network: " + engine.no_network);
  status.details.push_back(engine.traffic);
  if (!engine.outside.empty()) status.details.push_back(engine.outside);
  if (engine.disk_shortage) status.details.push_back(*engine.disk_shortage);
  for (const std::string& one : engine.owner.details()) status.details.push_back(one);
  if (engine.leap)
    status.details.push_back("clock: moved by " + signed_text(engine.leap->by) + " " +
                             client_policy::rough_text(now - engine.leap->at) +
                             " ago: this computer slept, or its clock was set");
  for (const auto& project : engine.projects) add_project(engine, status, *project, now);
  const std::int64_t today = state::day_of(engine.services.clock.now());
  for (const auto& [day, use] : engine.accounts.days()) {
    status.days.push_back({day, use.core_seconds, use.joules});
    if (day == today) status.core_seconds_today += use.core_seconds;
    if (day > today - 7) status.core_seconds_week += use.core_seconds;
    status.core_seconds_year += use.core_seconds;
  }
  return status;
}

}  // namespace gleaner::engine
