#include "server/policy/dispatch/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "server/policy/dispatch/log_fields.h"
#include "server/policy/journal/play.h"
#include "shared/json/text.h"

namespace gleaner::policy {
namespace {

using protocol::codec::JsonReader;
using protocol::codec::JsonWriter;

constexpr int version = 1;
constexpr protocol::codec::Whole versions{version, version};
const char* const event_names[] = {"problem", "drop_problem", "stage", "host",    "drop_host",
                                   "work",    "planned",      "tick",  "verdict", "stage_event"};
static_assert(std::size(event_names) == std::variant_size_v<ProjectEvent>);

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

}  // namespace

std::string first_line(const PlanRules& rules) {
  JsonWriter writer;
  writer.open();
  writer("gleaner_project_log", version, versions);
  visit(writer, rules);
  writer.close();
  return writer.take();
}

std::string line_of(const LogEntry& entry) {
  JsonWriter writer;
  const LogFields log(writer);
  const std::string name = event_names[entry.event.index()];
  writer.open();
  if (!std::holds_alternative<StageHappened>(entry.event)) log("at", entry.at);  // that says it itself
  log("dispatch", name);
  std::visit([&](const auto& event) { visit(writer, event); }, entry.event);
  log.maybe("answer", entry.answer);
  writer.close();
  return writer.take();
}

Result<LogLine> read_line(std::string_view line) {
  const json::Value object = json::parse_or_null(line);
  if (!object.is_object()) return invalid("expected one JSON object on the line");
  for (const char* former : {"gleaner_stage_log", "gleaner_verdict_log"})
    if (object.contains(former))
      return invalid(
          fmt::format("{}: logs of a stage or of verdicts, which servers before wrote beside the "
                      "project's, cannot be replayed: name the project's, decisions/project.jsonl",
                      former));
  JsonReader reader(object);
  const LogFields log(reader);
  if (object.contains("gleaner_project_log")) {
    PlanRules rules;
    int theirs = 0;
    reader("gleaner_project_log", theirs, versions);
    visit(reader, rules);
    if (reader.failed()) return invalid(reader.failure());
    return LogLine{rules};
  }
  LogEntry entry;
  std::string name;
  log("dispatch", name);
  if (reader.failed()) return invalid(reader.failure());
  const auto* const found = std::find(std::begin(event_names), std::end(event_names), name);
  if (found == std::end(event_names))
    return invalid(
        fmt::format("dispatch: expected one of {}, got \"{}\"", fmt::join(event_names, ", "), name));
  entry.event =
      read_alternative<ProjectEvent>(static_cast<std::size_t>(found - std::begin(event_names)), reader);
  if (const auto* happened = std::get_if<StageHappened>(&entry.event))
    entry.at = happened->entry.at;
  else
    log("at", entry.at);
  log.maybe("answer", entry.answer);
  if (reader.failed()) return invalid(reader.failure());
  return LogLine{std::move(entry)};
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
      text += fmt::format("problem {}: {}; ", problem.value, text_of(decision));
  }
  return text;
}

std::string text_of(const Verdict& verdict) {
  const char* const kinds[] = {"agree", "need another", "decided", "undecided"};
  return fmt::format("{}: right {}, wrong {}, {}, {}", kinds[static_cast<int>(verdict.kind) - 1],
                     verdict.right, verdict.wrong, verdict.differ ? "some differ" : "all the same",
                     verdict.independent ? "independent" : "not independent");
}

}  // namespace gleaner::policy
