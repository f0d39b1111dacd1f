#include "server/policy/dispatch/replay.h"

#include <fmt/format.h>

#include "server/policy/dispatch/log.h"
#include "server/policy/dispatch/log_fields.h"
#include "server/policy/journal/lines.h"
#include "shared/json/text.h"

namespace gleaner::policy {
namespace {

constexpr std::string_view first_key = "\"gleaner_project_log\"";

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

}  // namespace

struct ProjectReplay::Line {
  const json::Value& object;
  protocol::codec::JsonReader reader{object};
  LogFields<protocol::codec::JsonReader> log{reader};

  // As good as new if it is wrong, which status() tells.
  template <typename Id>
  Id id(const char* name) {
    Id id;
    reader(name, id, from_one);
    return id;
  }
  ProblemId problem() { return id<ProblemId>("problem"); }
  [[nodiscard]] Status status() const {
    return reader.failed() ? Status{invalid(reader.failure())} : Status{};
  }
};

bool ProjectReplay::is_first_line(std::string_view line) {
  return line.find(first_key) != std::string_view::npos;
}

void ProjectReplay::compare(std::string logged, std::string replayed) {
  if (logged == replayed) return;
  const auto shown = [](std::string text) { return text.empty() ? std::string("nothing") : text; };
  parting_ = Parting{lines_, shown(std::move(logged)), shown(std::move(replayed))};
}

Status ProjectReplay::feed(std::string_view text, const std::string& file) {
  ++lines_;
  if (text.find_first_not_of(" \r\t") == std::string_view::npos) return {};
  const auto within = [&](Status status) {
    if (status.ok()) return status;
    return Status{invalid(fmt::format("{}:{}: {}", file, lines_, status.error().message))};
  };
  const json::Value object = json::parse_or_null(text);
  if (!object.is_object()) return within(invalid("expected one JSON object on the line"));
  Line line{object};
  if (object.contains("gleaner_project_log")) {
    PlanRules rules;
    std::int64_t theirs = 0;
    line.reader("gleaner_project_log", theirs, protocol::codec::Whole{log::version, log::version});
    visit(line.reader, rules);
    TRY(within(line.status()));
    dispatch_ = std::make_unique<Dispatch>(rules);
    jobs_.clear();
    items_.clear();
    last_unit_ = 0;
    return {};
  }
  if (!dispatch_) return within(invalid("gleaner_project_log: expected 1: is this a server's log?"));
  ++events_;
  return within(play(line));
}

Status ProjectReplay::play(Line& line) {
  std::string what;
  line.log("dispatch", what);
  TRY(line.status());
  if (what == "stage_event") return stage_event(line);
  Timestamp at;
  line.log("at", at);
  TRY(line.status());
  if (what == "tick") {
    dispatch_->tick(at);
  } else if (what == "work") {
    TRY(work(line, at));
  } else if (what == "planned") {
    TRY(planned(line, at));
  } else if (what == "stage") {
    TRY(stage(line, at));
  } else if (what == "host" || what == "drop_host") {
    const auto host = line.id<HostId>("host");
    HostTerms terms;
    if (what == "host") visit(line.reader, terms);
    TRY(line.status());
    if (what == "host")
      dispatch_->put_host(host, terms, at);
    else
      dispatch_->drop_host(host, at);
  } else if (what == "problem") {
    const ProblemId problem = line.problem();
    ProblemTerms terms;
    std::optional<double> service;
    visit(line.reader, terms);
    line.log.maybe("service", service);
    TRY(line.status());
    dispatch_->put_problem(problem, terms, at, service);
    items_.try_emplace(problem, 0);
  } else if (what == "drop_problem" || what == "end_stage") {
    const ProblemId problem = line.problem();
    TRY(line.status());
    if (what == "end_stage") {
      dispatch_->end_stage(problem, at);
    } else {
      dispatch_->drop_problem(problem, at);
      items_.erase(problem);
    }
  } else {
    return invalid(fmt::format("dispatch: there is no event '{}'", what));
  }
  for (PlanJob& job : dispatch_->take_jobs()) jobs_.insert_or_assign(job.strategy, std::move(job));
  return {};
}

Status ProjectReplay::stage(Line& line, Timestamp at) {
  const ProblemId problem = line.problem();
  TRY(line.status());
  if (!items_.contains(problem)) return invalid("problem: expected one that was told of before");
  TRY_ASSIGN(const StageSetup setup, read_setup(line.object["setup"]));
  items_[problem] = setup.items;
  if (!line.object.contains("stored")) {
    dispatch_->begin_stage(problem, setup, at);
    return {};
  }
  TRY_ASSIGN(const JournalEntry entry, read_entry(line.object["stored"], setup.items));
  const auto* stored = std::get_if<RestoreEvent>(&entry.event);
  if (stored == nullptr) return invalid("stored: expected what was restored");
  for (const Unit& unit : stored->units) last_unit_ = std::max(last_unit_, unit.id.value);
  dispatch_->restore_stage(problem, setup, *stored, at);
  return {};
}

Status ProjectReplay::stage_event(Line& line) {
  const ProblemId problem = line.problem();
  TRY(line.status());
  RecordedStage* const stage = dispatch_->stage(problem);
  if (stage == nullptr) return invalid("problem: expected one whose stage has begun");
  TRY_ASSIGN(const JournalEntry entry, read_entry(line.object["event"], items_.at(problem)));
  if (std::holds_alternative<RestoreEvent>(entry.event) || std::holds_alternative<RequestEvent>(entry.event))
    return invalid("event: expected none that follows from other lines");
  const StageAnswer answer = stage->play(entry.event, entry.at);
  decisions_ += static_cast<std::int64_t>(answer.decisions.size());
  const auto shown = [](const StageAnswer& one) {
    std::string text = one.answer;
    for (const std::string& decision : one.decisions) text += "\n" + decision;
    return text;
  };
  compare(shown(entry.answer), shown(answer));
  return {};
}

Status ProjectReplay::work(Line& line, Timestamp at) {
  WorkDemand demand;
  std::string logged;
  visit(line.reader, demand);
  line.log("answer", logged);
  TRY(line.status());
  if (demand.units.size() < demand.slots.size()) return invalid("units: expected one for each slot");
  for (std::size_t i = 0; i < demand.units.size(); ++i) {
    if (demand.units[i].value <= (i == 0 ? last_unit_ : demand.units[i - 1].value))
      return invalid(fmt::format("units: {} was given before", demand.units[i].value));
  }
  const Served served = dispatch_->request(demand, at);
  if (!served.grants.empty()) last_unit_ = served.grants.back().unit.value;
  for (const auto& [problem, changes] : served.changes)
    decisions_ += static_cast<std::int64_t>(changes.decisions.size());
  compare(logged, log::text_of(served));
  return {};
}

Status ProjectReplay::planned(Line& line, Timestamp at) {
  PlanOutcome outcome;
  visit(line.reader, outcome);
  TRY(line.status());
  const auto job = jobs_.find(outcome.strategy);
  if (job == jobs_.end()) return invalid("strategy: expected one that a plan is being made for");
  TaskPlan plan;
  plan.taken = outcome.taken;
  plan.reason = outcome.reason;
  plan.placed = static_cast<std::uint64_t>(outcome.placed);
  for (const auto& [slot, tasks] : outcome.queues) plan.queues[slot] = {tasks.begin(), tasks.end()};
  dispatch_->planned(job->second, plan, outcome.seconds, at);
  jobs_.erase(job);
  return {};
}

}  // namespace gleaner::policy
