#include "server/policy/dispatch/log.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/policy/journal/lines.h"
#include "server/policy/journal/player.h"

namespace gleaner::policy::log {
namespace {

using Json = nlohmann::ordered_json;

Json line_of(const char* what, Timestamp now) {
  return {{"at", to_microseconds(now)}, {"dispatch", what}};
}

template <typename Id>
Json numbers(const std::vector<Id>& ids) {
  Json list = Json::array();
  for (const Id id : ids) list.push_back(id.value);
  return list;
}

}  // namespace

std::string begins(const PlanRules& rules) {
  return Json{
      {"gleaner_project_log", 1}, {"heartbeat", rules.heartbeat}, {"unit_maximum", rules.unit_maximum}}
      .dump();
}

std::string problem(ProblemId problem, const ProblemTerms& terms, std::optional<double> service,
                    Timestamp now) {
  Json json = line_of("problem", now);
  json["problem"] = problem.value;
  json["strategy"] = terms.strategy;
  json["weight"] = terms.share.weight;
  json["priority"] = terms.share.priority;
  json["running"] = terms.running;
  json["application"] = terms.needs.application;
  json["platforms"] = terms.needs.platforms;
  json["memory_bytes"] = terms.needs.memory_bytes;
  json["threads"] = terms.needs.threads;
  if (service) json["service"] = *service;
  return json.dump();
}

std::string problem(const char* what, ProblemId problem, Timestamp now) {
  Json json = line_of(what, now);
  json["problem"] = problem.value;
  return json.dump();
}

std::string stage(ProblemId problem, const StageSetup& setup, const RestoreEvent* stored, Timestamp now) {
  std::string line = fmt::format(R"({{"at":{},"dispatch":"stage","problem":{},"setup":{})",
                                 to_microseconds(now), problem.value, setup_line(setup));
  if (stored != nullptr) line += fmt::format(R"(,"stored":{})", entry_line({now, *stored, {}}));
  return line + "}";
}

std::string stage_event(ProblemId problem, const std::string& line) {
  return fmt::format(R"({{"dispatch":"stage_event","problem":{},"event":{}}})", problem.value, line);
}

std::string host(HostId host, const HostTerms& terms, Timestamp now) {
  Json json = line_of("host", now);
  json["host"] = host.value;
  json["performance"] = terms.performance;
  json["held_until"] = to_microseconds(terms.held_until);
  json["held_because"] = terms.held_because;
  json["barred"] = numbers(terms.barred);
  return json.dump();
}

std::string drop_host(HostId host, Timestamp now) {
  Json json = line_of("drop_host", now);
  json["host"] = host.value;
  return json.dump();
}

std::string work(const WorkDemand& demand, const Served& served, Timestamp now) {
  Json json = line_of("work", now);
  json["host"] = demand.host.value;
  json["slots"] = Json::array();
  for (const SlotDemand& slot : demand.slots) json["slots"].push_back(Json::array({slot.slot, slot.urgent}));
  json["platforms"] = demand.offer.platforms;
  if (demand.offer.applications) json["applications"] = *demand.offer.applications;
  json["memory_bytes"] = demand.offer.memory_bytes;
  json["cores"] = demand.offer.cores;
  json["performance"] = demand.proposal.performance;
  json["queue_unloaded"] = demand.proposal.queue_unloaded;
  json["queue_current"] = demand.proposal.queue_current;
  json["items"] = demand.proposal.items;
  json["watts"] = demand.proposal.watts;
  json["units"] = numbers(demand.units);
  json["answer"] = text_of(served);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string planned(const std::string& strategy, const TaskPlan& plan, double seconds, Timestamp now) {
  Json json = line_of("planned", now);
  json["strategy"] = strategy;
  json["seconds"] = seconds;
  json["taken"] = plan.taken;
  json["reason"] = plan.reason;
  json["placed"] = plan.placed;
  json["queues"] = Json::array();
  for (const auto& [slot, tasks] : plan.queues) {
    Json queue = Json::array();
    for (const PlanTask& task : tasks)
      queue.push_back(Json::array({task.problem.value, task.range.begin, task.range.end, task.cost}));
    json["queues"].push_back(Json::array({slot.host.value, slot.slot, std::move(queue)}));
  }
  return json.dump();
}

std::string tick(Timestamp now) {
  return line_of("tick", now).dump();
}

std::string text_of(const Served& served) {
  std::string text;
  for (const SlotGrant& grant : served.grants)
    text +=
        fmt::format("slot {}: unit {} of problem {}; ", grant.slot, grant.unit.value, grant.problem.value);
  if (served.retry_after > 0 || !served.reason.empty())
    text += fmt::format("again in {} s: {}; ", served.retry_after, served.reason);
  for (const auto& [problem, changes] : served.changes) {
    for (const Decision& decision : changes.decisions)
      text += fmt::format("problem {}: {}; ", problem.value, policy::text_of(decision));
  }
  return text;
}

}  // namespace gleaner::policy::log
