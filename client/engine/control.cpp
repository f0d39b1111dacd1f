#include "client/engine/control.h"

#include <cmath>

#include "shared/json/text.h"

namespace gleaner::engine {
namespace {

using Json = json::Value;

constexpr double pause_request_seconds_max = 366.0 * 24 * 3600;

Json to_json(const SlotStatus& slot) {
  return {{"slot", slot.slot},
          {"state", slot.state},
          {"project", slot.project},
          {"problem", slot.problem},
          {"application", slot.application},
          {"unit", slot.unit},
          {"begin", slot.range.begin},
          {"end", slot.range.end},
          {"finished", slot.finished},
          {"rate", slot.rate},
          {"remaining_seconds", slot.remaining_seconds},
          {"reason", slot.reason}};
}

Json to_json(const ProblemStatus& problem) {
  return {{"project", problem.project}, {"problem", problem.problem},   {"name", problem.name},
          {"items", problem.items},     {"accepted", problem.accepted}, {"done", problem.done},
          {"hosts", problem.hosts},     {"in_hand", problem.in_hand}};
}

Json to_json(const ProjectStatus& project) {
  return {{"key", project.key},
          {"name", project.name},
          {"server", project.server},
          {"host", project.host},
          {"last_contact_seconds", project.last_contact_seconds},
          {"share", project.share},
          {"recent_part", project.recent_part},
          {"suspended", project.suspended},
          {"revoked", project.revoked},
          {"state", project.state},
          {"place", project.place},
          {"units_in_hand", project.units_in_hand},
          {"outbox", project.outbox},
          {"items_today", project.items_today},
          {"items_week", project.items_week},
          {"items_total", project.items_total}};
}

Json to_json(const DayStatus& day) {
  return {{"day", day.day}, {"core_seconds", day.core_seconds}, {"joules", day.joules}};
}

Json to_json(const EngineStatus& status) {
  Json days = Json::array();
  for (const DayStatus& day : status.days) days.push_back(to_json(day));
  Json slots = Json::array();
  for (const SlotStatus& slot : status.slots) slots.push_back(to_json(slot));
  Json problems = Json::array();
  for (const ProblemStatus& problem : status.problems) problems.push_back(to_json(problem));
  Json projects = Json::array();
  for (const ProjectStatus& project : status.projects) projects.push_back(to_json(project));
  return {{"server", status.server},
          {"project", status.project},
          {"project_name", status.project_name},
          {"host", status.host},
          {"host_name", status.host_name},
          {"mode", status.mode},
          {"reason", status.reason},
          {"details", status.details},
          {"cpu_share", status.cpu_share},
          {"cores", status.cores},
          {"cpu_share_now", status.cpu_share_now},
          {"cores_now", status.cores_now},
          {"computer_cores", status.computer_cores},
          {"finishing", status.finishing},
          {"revoked", status.revoked},
          {"benchmark_mflops", status.benchmark_mflops},
          {"all_cores_mflops", status.all_cores_mflops},
          {"memory_bytes_per_second", status.memory_bytes_per_second},
          {"slots", slots},
          {"problems", problems},
          {"projects", projects},
          {"days", days},
          {"core_seconds_today", status.core_seconds_today},
          {"core_seconds_week", status.core_seconds_week},
          {"core_seconds_year", status.core_seconds_year},
          {"items_accepted", status.items_accepted},
          {"items_today", status.items_today},
          {"items_week", status.items_week},
          {"items_total", status.items_total},
          {"commits_accepted", status.commits_accepted},
          {"commits_duplicate", status.commits_duplicate},
          {"commits_refused", status.commits_refused},
          {"last_refusal", status.last_refusal},
          {"outbox", status.outbox},
          {"units_in_hand", status.units_in_hand},
          {"work_requests", status.work_requests},
          {"last_contact_seconds", status.last_contact_seconds},
          {"uptime_seconds", status.uptime_seconds},
          {"trouble", status.trouble}};
}

std::string line_of(const Json& reply) {
  return json::write(reply, {-1, true});
}

ControlOutcome refuse(const std::string& message) {
  return {line_of({{"version", 1}, {"ok", false}, {"message", message}}), false};
}

ControlOutcome done(const std::string& message) {
  return {line_of({{"version", 1}, {"ok", true}, {"message", message}}), false};
}

ControlOutcome pause(Engine& engine, const Json& request) {
  std::optional<Duration> length;
  if (request.contains("seconds")) {
    const Json& seconds = request["seconds"];
    if (!seconds.is_number() || !(seconds.number() > 0) || seconds.number() > pause_request_seconds_max)
      return refuse("a pause lasts from one second to a year");
    length = from_seconds(seconds.number());
  }
  const bool saved = request["at_saved_point"] == Json(true);
  const Status paused = engine.pause(length, saved ? Engine::PauseAt::saved : Engine::PauseAt::once);
  if (!paused.ok()) return refuse(paused.error().message);
  if (saved)
    return done("Each core stops at its next saved point; `gleaner status` shows which still compute.");
  if (!length) return done("Paused until `gleaner resume`.");
  const auto seconds = std::llround(to_seconds(*length));
  return done(seconds < 120 ? "Paused for " + std::to_string(seconds) + " s."
                            : "Paused until " + engine.end_text(*length) + ".");
}

ControlOutcome join(const ControlHelp& help, const Json& request) {
  if (!request["code"].is_string() || !request["name"].is_string())
    return refuse("joining takes a code and a name");
  const Status begun = help.join(request["code"].string(), request["name"].string());
  return begun.ok() ? done("joining") : refuse(begun.error().message);
}

ControlOutcome joined(const ControlHelp& help) {
  const auto outcome = help.joined();
  if (!outcome)
    return {line_of({{"version", 1}, {"ok", true}, {"message", "joining"}, {"joining", true}}), false};
  return outcome->ok() ? done(**outcome) : refuse(outcome->error().message);
}

}  // namespace

ControlOutcome handle_control(Engine& engine, std::string_view line, const ControlHelp& help) {
  if (line.size() > control_line_bytes_max) return refuse("the request is too long");
  const Json request = json::parse_or_null(line);
  if (!request.is_object()) return refuse("the request is not a JSON object");
  if (request["version"] != Json(1)) return refuse("this client speaks version 1 only");
  if (!request["command"].is_string()) return refuse("the request has no command");
  const std::string& command = request["command"].string();
  if (command == "status" || command == "why") {
    const EngineStatus status = engine.status();
    return {line_of({{"version", 1}, {"ok", true}, {"message", status.reason}, {"status", to_json(status)}}),
            false};
  }
  if (command == "pause") return pause(engine, request);
  if (command == "resume" || command == "finish") {
    const bool resume = command == "resume";
    const Status outcome = resume ? engine.resume() : engine.finish();
    if (!outcome.ok()) return refuse(outcome.error().message);
    return done(resume ? "Resumed. Computing starts as soon as the preferences allow it."
                       : "Finishing current units; no new work will be fetched.");
  }
  if (command == "log" && help.log)
    return {line_of({{"version", 1}, {"ok", true}, {"message", "the last messages"}, {"log", help.log()}}),
            false};
  if (command == "join" && help.join) return join(help, request);
  if (command == "joined" && help.joined) return joined(help);
  if (command == "reload" && help.reload) {
    const Status outcome = help.reload();
    return outcome.ok() ? done("Preferences reloaded.") : refuse(outcome.error().message);
  }
  if (command == "quit") {
    ControlOutcome outcome = done("Stopping the client.");
    outcome.quit = true;
    return outcome;
  }
  return refuse("unknown command: use status, why, pause, resume, finish or quit");
}

ControlOutcome handle_control_refused(std::string_view line, const std::string& why,
                                      const ControlHelp& help) {
  const Json request = json::parse_or_null(line.substr(0, control_line_bytes_max));
  if (!request.is_object()) return refuse(why);
  if (request["command"] == Json("join") && help.join) return join(help, request);
  if (request["command"] == Json("joined") && help.joined) return joined(help);
  if (request["command"] != Json("quit")) return refuse(why);
  ControlOutcome outcome = done("Stopping the client.");
  outcome.quit = true;
  return outcome;
}

}  // namespace gleaner::engine
