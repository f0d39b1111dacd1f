#include "server/policy/dispatch/replay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/policy/dispatch/log.h"
#include "server/policy/journal/lines.h"

namespace gleaner::policy {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view first_key = "\"gleaner_project_log\"";
constexpr std::int64_t whole_max = 1'000'000'000'000'000;
constexpr int slots_max = 100'000;

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

}  // namespace

// A line's fields; the first mistake is kept.
struct ProjectReplay::Line {
  const Json& json;
  std::string mistake = {};

  const Json* find(const char* key, bool (Json::*is)() const noexcept, const char* what) {
    const auto found = json.find(key);
    if (found != json.end() && ((*found).*is)()) return &*found;
    if (mistake.empty()) mistake = fmt::format("{}: expected {}", key, what);
    return nullptr;
  }
  double number(const char* key) {
    const Json* found = find(key, &Json::is_number, "a number");
    return found == nullptr ? 0 : found->get<double>();
  }
  std::int64_t whole(const char* key, std::int64_t low, std::int64_t high = whole_max) {
    const Json* found = find(key, &Json::is_number_integer, "a whole number");
    if (found == nullptr) return low;
    const auto value = found->get<std::int64_t>();
    if (value >= low && value <= high) return value;
    if (mistake.empty()) mistake = fmt::format("{}: expected {} to {}, got {}", key, low, high, value);
    return low;
  }
  bool flag(const char* key) {
    const Json* found = find(key, &Json::is_boolean, "true or false");
    return found != nullptr && found->get<bool>();
  }
  std::string text(const char* key) {
    const Json* found = find(key, &Json::is_string, "a text");
    return found == nullptr ? "" : found->get<std::string>();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> all;
    const Json* found = find(key, &Json::is_array, "a list of texts");
    for (std::size_t i = 0; found != nullptr && i < found->size(); ++i) {
      if ((*found)[i].is_string()) all.push_back((*found)[i].get<std::string>());
    }
    return all;
  }
  template <typename Id>
  std::vector<Id> ids(const char* key) {
    std::vector<Id> all;
    const Json* found = find(key, &Json::is_array, "a list of numbers from 1 on");
    for (std::size_t i = 0; found != nullptr && i < found->size(); ++i) {
      const Json& one = (*found)[i];
      if (!one.is_number_integer() || one.get<std::int64_t>() < 1)
        mistake = fmt::format("{}: expected a list of numbers from 1 on", key);
      else
        all.push_back({one.get<std::int64_t>()});
    }
    return all;
  }
  Timestamp at() { return from_microseconds(whole("at", -10 * whole_max, 10 * whole_max)); }
  ProblemId problem() { return {whole("problem", 1)}; }
  HostId host() { return {whole("host", 1)}; }
  [[nodiscard]] Status status() const { return mistake.empty() ? Status{} : Status{invalid(mistake)}; }
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
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return within(invalid("expected one JSON object on the line"));
  Line line{json};
  if (json.contains("gleaner_project_log")) {
    PlanRules rules{line.number("heartbeat"), line.number("unit_maximum")};
    if (line.whole("gleaner_project_log", 1, 1) == 1 && line.mistake.empty())
      dispatch_ = std::make_unique<Dispatch>(rules);
    jobs_.clear();
    items_.clear();
    last_unit_ = 0;
    return within(line.status());
  }
  if (!dispatch_) return within(invalid("gleaner_project_log: expected 1: is this a server's log?"));
  ++events_;
  return within(play(line));
}

Status ProjectReplay::play(Line& line) {
  const std::string what = line.text("dispatch");
  if (what == "stage_event") return stage_event(line);
  const Timestamp at = line.at();
  TRY(line.status());
  if (what == "tick") {
    dispatch_->tick(at);
  } else if (what == "work") {
    TRY(work(line));
  } else if (what == "planned") {
    TRY(planned(line));
  } else if (what == "stage") {
    TRY(stage(line));
  } else if (what == "host") {
    const HostTerms terms{line.number("performance"),
                          from_microseconds(line.whole("held_until", -10 * whole_max, 10 * whole_max)),
                          line.text("held_because"), line.ids<ProblemId>("barred")};
    const HostId host = line.host();
    TRY(line.status());
    dispatch_->put_host(host, terms, at);
  } else if (what == "drop_host") {
    const HostId host = line.host();
    TRY(line.status());
    dispatch_->drop_host(host, at);
  } else if (what == "problem") {
    ProblemTerms terms;
    terms.strategy = line.text("strategy");
    terms.share = {line.number("weight"), static_cast<int>(line.whole("priority", -1000, 1000))};
    terms.running = line.flag("running");
    terms.needs = {line.text("application"), line.texts("platforms"), line.whole("memory_bytes", 0),
                   static_cast<int>(line.whole("threads", 0, slots_max))};
    std::optional<double> service;
    if (line.json.contains("service")) service = line.number("service");
    const ProblemId problem = line.problem();
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

Status ProjectReplay::stage(Line& line) {
  const ProblemId problem = line.problem();
  const Json* setup_text = line.find("setup", &Json::is_object, "a stage's setup");
  TRY(line.status());
  if (!items_.contains(problem)) return invalid("problem: expected one that was told of before");
  TRY_ASSIGN(const StageSetup setup, read_setup_line(setup_text->dump()));
  items_[problem] = setup.items;
  if (!line.json.contains("stored")) {
    dispatch_->begin_stage(problem, setup, line.at());
    return {};
  }
  TRY_ASSIGN(const JournalEntry entry, read_entry_line(line.json["stored"].dump(), setup.items));
  const auto* stored = std::get_if<RestoreEvent>(&entry.event);
  if (stored == nullptr) return invalid("stored: expected what was restored");
  for (const Unit& unit : stored->units) last_unit_ = std::max(last_unit_, unit.id.value);
  dispatch_->restore_stage(problem, setup, *stored, line.at());
  return {};
}

Status ProjectReplay::stage_event(Line& line) {
  const ProblemId problem = line.problem();
  const Json* event = line.find("event", &Json::is_object, "a stage's event");
  TRY(line.status());
  RecordedStage* const stage = dispatch_->stage(problem);
  if (stage == nullptr) return invalid("problem: expected one whose stage has begun");
  TRY_ASSIGN(const JournalEntry entry, read_entry_line(event->dump(), items_.at(problem)));
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

Status ProjectReplay::work(Line& line) {
  WorkDemand demand;
  demand.host = line.host();
  demand.offer.platforms = line.texts("platforms");
  if (line.json.contains("applications")) demand.offer.applications = line.texts("applications");
  demand.offer.memory_bytes = line.whole("memory_bytes", 0);
  demand.offer.cores = static_cast<int>(line.whole("cores", 0, slots_max));
  demand.proposal.performance = line.number("performance");
  demand.proposal.queue_unloaded = line.number("queue_unloaded");
  demand.proposal.queue_current = line.number("queue_current");
  demand.proposal.items = line.number("items");
  demand.proposal.watts = line.number("watts");
  demand.units = line.ids<UnitId>("units");
  const Json* slots = line.find("slots", &Json::is_array, "a list of slots");
  const std::string logged = line.text("answer");
  TRY(line.status());
  for (const Json& slot : *slots) {
    if (!slot.is_array() || slot.size() != 2 || !slot[0].is_number_integer() || !slot[1].is_boolean())
      return invalid("slots: expected [slot, urgent] for each");
    demand.slots.push_back({slot[0].get<int>(), slot[1].get<bool>()});
  }
  if (demand.units.size() < demand.slots.size()) return invalid("units: expected one for each slot");
  for (std::size_t i = 0; i < demand.units.size(); ++i) {
    if (demand.units[i].value <= (i == 0 ? last_unit_ : demand.units[i - 1].value))
      return invalid(fmt::format("units: {} was given before", demand.units[i].value));
  }
  const Served served = dispatch_->request(demand, line.at());
  if (!served.grants.empty()) last_unit_ = served.grants.back().unit.value;
  for (const auto& [problem, changes] : served.changes)
    decisions_ += static_cast<std::int64_t>(changes.decisions.size());
  compare(logged, log::text_of(served));
  return {};
}

Status ProjectReplay::planned(Line& line) {
  TaskPlan plan;
  plan.taken = line.flag("taken");
  plan.reason = line.text("reason");
  plan.placed = static_cast<std::uint64_t>(line.whole("placed", 0));
  const std::string strategy = line.text("strategy");
  const double seconds = line.number("seconds");
  const Json* queues = line.find("queues", &Json::is_array, "a list of queues");
  TRY(line.status());
  const auto job = jobs_.find(strategy);
  if (job == jobs_.end()) return invalid("strategy: expected one that a plan is being made for");
  for (const Json& queue : *queues) {
    if (!queue.is_array() || queue.size() != 3 || !queue[0].is_number_integer() ||
        !queue[1].is_number_integer() || !queue[2].is_array())
      return invalid("queues: expected [host, slot, tasks] for each");
    auto& tasks = plan.queues[{HostId{queue[0].get<std::int64_t>()}, queue[1].get<int>()}];
    for (const Json& task : queue[2]) {
      if (!task.is_array() || task.size() != 4 ||
          !std::all_of(task.begin(), task.end(), [](const Json& one) { return one.is_number(); }))
        return invalid("queues: expected [problem, begin, end, cost] for each task");
      tasks.push_back({ProblemId{task[0].get<std::int64_t>()},
                       {task[1].get<std::int64_t>(), task[2].get<std::int64_t>()},
                       task[3].get<double>()});
    }
  }
  dispatch_->planned(job->second, plan, seconds, line.at());
  jobs_.erase(job);
  return {};
}

}  // namespace gleaner::policy
