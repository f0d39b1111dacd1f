#include "server/policy/dispatch/log.h"

#include <fmt/format.h>

#include "server/policy/dispatch/log_fields.h"
#include "server/policy/journal/lines.h"
#include "server/policy/journal/play.h"

namespace gleaner::policy::log {
namespace {

using protocol::codec::JsonWriter;

// One line; `write` adds what the event has besides its time and its name.
template <typename Write>
std::string line_of(const std::string& what, Timestamp now, const Write& write) {
  JsonWriter writer;
  const LogFields log(writer);
  writer.open();
  log("at", now);
  log("dispatch", what);
  write(writer, log);
  writer.close();
  return writer.take();
}

}  // namespace

std::string begins(const PlanRules& rules) {
  JsonWriter writer;
  writer.open();
  writer("gleaner_project_log", version, protocol::codec::Whole{});
  visit(writer, rules);
  writer.close();
  return writer.take();
}

std::string problem(ProblemId problem, const ProblemTerms& terms, std::optional<double> service,
                    Timestamp now) {
  return line_of("problem", now, [&](JsonWriter& writer, const auto& log) {
    log("problem", problem);
    visit(writer, terms);
    log.maybe("service", service);
  });
}

std::string problem(const char* what, ProblemId problem, Timestamp now) {
  return line_of(what, now, [&](JsonWriter&, const auto& log) { log("problem", problem); });
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
  return line_of("host", now, [&](JsonWriter& writer, const auto& log) {
    log("host", host);
    visit(writer, terms);
  });
}

std::string drop_host(HostId host, Timestamp now) {
  return line_of("drop_host", now, [&](JsonWriter&, const auto& log) { log("host", host); });
}

std::string work(const WorkDemand& demand, const Served& served, Timestamp now) {
  return line_of("work", now, [&](JsonWriter& writer, const auto& log) {
    visit(writer, demand);
    const std::string answer = text_of(served);
    log("answer", answer);
  });
}

std::string planned(const std::string& strategy, const TaskPlan& plan, double seconds, Timestamp now) {
  PlanOutcome outcome{strategy, seconds, plan.taken, plan.reason, static_cast<std::int64_t>(plan.placed), {}};
  for (const auto& [slot, tasks] : plan.queues)
    outcome.queues.push_back({slot, {tasks.begin(), tasks.end()}});
  return line_of("planned", now, [&](JsonWriter& writer, const auto&) { visit(writer, outcome); });
}

std::string tick(Timestamp now) {
  return line_of("tick", now, [](JsonWriter&, const auto&) {});
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
