#include "server/policy/dispatch/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/policy/dispatch/log.h"
#include "server/policy/journal/entry_fields.h"
#include "server/policy/journal/restorable.h"

namespace gleaner::policy {
namespace {

Error wrong(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

Status possible(const std::string& mistake) {
  return mistake.empty() ? Status{} : wrong(mistake);
}

std::string text_of(const StageAnswer& answer) {
  std::string text = answer.answer;
  for (const std::string& decision : answer.decisions) text += (text.empty() ? "" : "\n") + decision;
  return text;
}

}  // namespace

// What each event does, once it is known to be possible.
struct ProjectReplay::Play {
  ProjectReplay& replay;
  Dispatch& dispatch;
  LogEntry& entry;

  template <typename Event>
  Status operator()(const Event& event) const {
    dispatch.apply(event, entry.at);
    return {};
  }
  Status operator()(const ProblemEvent& event) const {
    dispatch.apply(event, entry.at);
    replay.items_.try_emplace(event.problem, 0);
    return {};
  }
  Status operator()(const DropProblemEvent& event) const {
    dispatch.apply(event, entry.at);
    replay.items_.erase(event.problem);
    return {};
  }
  Status operator()(const BeginStageEvent& event) const {
    const auto items = replay.items_.find(event.problem);
    if (items == replay.items_.end()) return wrong("problem: expected one of an earlier entry");
    TRY(possible(impossible(event.setup)));
    if (event.stored) {
      TRY(possible(impossible(*event.stored, event.setup.items)));
      for (const Unit& unit : event.stored->units)
        replay.last_unit_ = std::max(replay.last_unit_, unit.id.value);
    }
    items->second = event.setup.items;
    dispatch.apply(event, entry.at);
    return {};
  }
  Status operator()(const WorkDemand& demand) const {
    if (demand.units.size() < demand.slots.size()) return wrong("units: expected one for each slot");
    std::int64_t last = replay.last_unit_;
    for (const UnitId unit : demand.units) {
      if (unit.value <= last) return wrong(fmt::format("units: {} was given before", unit.value));
      last = unit.value;
    }
    const Served served = dispatch.apply(demand, entry.at);
    if (!served.grants.empty()) replay.last_unit_ = served.grants.back().unit.value;
    for (const auto& [problem, changes] : served.changes)
      replay.decisions_ += static_cast<std::int64_t>(changes.decisions.size());
    replay.compare(entry.answer.value_or(""), policy::text_of(served));
    return {};
  }
  Status operator()(PlannedEvent& event) const {
    const auto job = replay.jobs_.find(event.job.strategy);
    if (job == replay.jobs_.end()) return wrong("strategy: expected one that a plan is being made for");
    event.job = std::move(job->second);
    replay.jobs_.erase(job);
    dispatch.apply(event, entry.at);
    return {};
  }
  Status operator()(const ComparedEvent& event) const {
    const auto& classes = event.verdict.classes;
    const Verdict again = judge(
        event.opinions, [&](std::size_t a, std::size_t b) { return classes[a] == classes[b]; }, event.terms);
    ++replay.decisions_;
    replay.compare(entry.answer.value_or(""), policy::text_of(again));
    return {};
  }
  Status operator()(const StageHappened& event) const {
    RecordedStage* const stage = dispatch.stage(event.problem);
    if (stage == nullptr) return wrong("problem: expected one whose stage has begun");
    const auto& [at, happened, logged] = event.entry;
    TRY(possible(impossible(happened, replay.items_.at(event.problem))));
    const StageAnswer answer = stage->play(happened, at);
    replay.decisions_ += static_cast<std::int64_t>(answer.decisions.size());
    replay.compare(text_of(logged), text_of(answer));
    return {};
  }
};

void ProjectReplay::compare(std::string logged, std::string replayed) {
  if (logged == replayed) return;
  const auto shown = [](std::string text) { return text.empty() ? std::string("nothing") : text; };
  parting_ = Parting{lines_, shown(std::move(logged)), shown(std::move(replayed))};
}

Status ProjectReplay::feed(std::string_view line, const std::string& file) {
  ++lines_;
  if (line.find_first_not_of(" \r\t") == std::string_view::npos) return {};
  const Status taken = take(line);
  if (taken.ok()) return {};
  return wrong(fmt::format("{}:{}: {}", file, lines_, taken.error().message));
}

Status ProjectReplay::take(std::string_view line) {
  TRY_ASSIGN(auto read, read_line(line));
  if (const auto* rules = std::get_if<PlanRules>(&read)) {
    dispatch_ = std::make_unique<Dispatch>(*rules);
    jobs_.clear();
    items_.clear();
    last_unit_ = 0;
    return {};
  }
  if (!dispatch_) return wrong("gleaner_project_log: expected 1: is this a project's decision log?");
  ++events_;
  auto& entry = std::get<LogEntry>(read);
  TRY(std::visit(Play{*this, *dispatch_, entry}, entry.event));
  for (PlanJob& job : dispatch_->take_jobs()) jobs_.insert_or_assign(job.strategy, std::move(job));
  return {};
}

}  // namespace gleaner::policy
