#include "server/policy/dispatch/dispatch.h"

#include <algorithm>

#include "server/policy/journal/entry_fields.h"
#include "server/policy/strategies.h"
#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// While it lives, what stages are asked follows from the event that dispatch was told of.
class Deciding {
 public:
  explicit Deciding(bool& flag) : flag_(flag) { flag_ = true; }
  ~Deciding() { flag_ = false; }
  Deciding(const Deciding&) = delete;
  Deciding& operator=(const Deciding&) = delete;

 private:
  bool& flag_;
};

constexpr double commits_per_heartbeat = 4;  // a commit is dearer than a heartbeat

}  // namespace

double commit_seconds(double heartbeat_seconds, double most) {
  return std::clamp(commits_per_heartbeat * heartbeat_seconds, 1.0, std::max(1.0, most));
}

// Of one problem's stage.
class Dispatch::Observer final : public StageObserver {
 public:
  Observer(Dispatch& dispatch, ProblemId problem) : dispatch_(dispatch), problem_(problem) {}

  [[nodiscard]] bool records() const override { return !dispatch_.deciding_ && dispatch_.log_; }
  void record(JournalEntry entry) override {
    const Timestamp at = entry.at;
    dispatch_.note(StageHappened{problem_, std::move(entry)}, at);
  }
  // Units that are over hold no slot any more.
  void changed(const Changes& changes, Timestamp now) override {
    const Problem& problem = dispatch_.problems_.at(problem_);
    for (const UnitId id : changes.units) {
      const Unit* unit = problem.stage->view().unit(id);
      if (unit == nullptr || unit->state == UnitState::open) continue;
      dispatch_.shares_.closed(problem_, *unit, now);
      if (problem.mapped) dispatch_.group(problem.terms.strategy).ended(*unit);
    }
  }

 private:
  Dispatch& dispatch_;
  ProblemId problem_;
};

Dispatch::Dispatch(PlanRules rules, LogSink log) : rules_(rules), log_(std::move(log)) {
  if (log_) log_(first_line(rules_));
}
Dispatch::~Dispatch() = default;

// ---- Problems ---------------------------------------------------------------------------------------------

void Dispatch::apply(const ProblemEvent& event, Timestamp now) {
  note(event, now);
  const auto& [id, terms, service] = event;
  Problem& problem = problems_[id];
  if (problem.terms.strategy != terms.strategy) {
    for (auto& [strategy, plans] : groups_) plans.forget(id);
  }
  problem.terms = terms;
  const auto kind = strategy_kind(terms.strategy);
  problem.mapped = kind.ok() && *kind == StrategyKind::mapping;
  compete(id, problem, now, service);
}

void Dispatch::compete(ProblemId id, Problem& problem, Timestamp now, std::optional<double> service) {
  if (service || (problem.terms.running && problem.stage)) {
    if (problem.terms.running) shares_.settle(unit_finder(), now);
    shares_.enter(id, problem.terms.share, now, service);
  }
  if (problem.terms.running && problem.stage) return;
  shares_.change(id, problem.terms.share, now);
  shares_.withdraw(id);
}

void Dispatch::apply(const DropProblemEvent& event, Timestamp now) {
  note(event, now);
  close_stage(event.problem, now);
  shares_.forget(event.problem);
  problems_.erase(event.problem);
  std::erase_if(groups_, [&](const auto& entry) { return mapped(entry.first).empty(); });
}

RecordedStage& Dispatch::apply(const BeginStageEvent& event, Timestamp now) {
  const auto& [id, setup, stored] = event;
  // It may be large: no line is made of it for nothing.
  const auto least = stored ? restore_bytes_least(stored->units.size(), stored->hosts.size()) : 0;
  if (log_.has_room(least)) note(event, now);
  const Deciding deciding(deciding_);
  close_stage(id, now);
  Problem& problem = problems_[id];
  problem.stage = std::make_unique<RecordedStage>(setup, std::make_unique<Observer>(*this, id));
  RecordedStage& stage = *problem.stage;
  if (!stored) {
    compete(id, problem, now);
    if (const auto hosts = waiting(now); !hosts.empty()) stage.apply(ExpectEvent{hosts}, now);
    return stage;
  }
  for (const Range range : stored->leased) stage.apply(BringEvent{range, 0}, now);
  stage.apply(*stored, now);
  for (const Unit* unit : stage.view().open_units()) shares_.took(id, *unit, false, now);
  if (problem.terms.running) shares_.enter(id, problem.terms.share, now, shares_.service(id, now));
  return stage;
}

void Dispatch::close_stage(ProblemId id, Timestamp now) {
  const auto found = problems_.find(id);
  if (found == problems_.end() || !found->second.stage) return;
  for (const Unit* unit : found->second.stage->view().open_units()) shares_.closed(id, *unit, now);
  shares_.withdraw(id);
  found->second.stage.reset();
  worked_at_ = now;
}

RecordedStage* Dispatch::stage(ProblemId id) const {
  const auto found = problems_.find(id);
  return found == problems_.end() ? nullptr : found->second.stage.get();
}

FairShare::FindUnit Dispatch::unit_finder() const {
  return [this](ProblemId id, UnitId unit) -> const Unit* {
    const RecordedStage* const found = stage(id);
    return found == nullptr ? nullptr : found->view().unit(unit);
  };
}

// ---- Hosts ------------------------------------------------------------------------------------------------

void Dispatch::apply(const HostEvent& event, Timestamp now) {
  const auto [place, fresh] = hosts_.try_emplace(event.host);
  if (!fresh && place->second.terms == event.terms) return;
  note(event, now);
  place->second.terms = event.terms;
}

void Dispatch::apply(const DropHostEvent& event, Timestamp now) {
  note(event, now);
  hosts_.erase(event.host);
}

std::vector<IdleHost> Dispatch::waiting(Timestamp now) const {
  std::vector<IdleHost> idle;
  for (const auto& [id, host] : hosts_) {
    if (host.watts <= 0 || host.performance <= 0) continue;
    IdleHost one{id, 0, host.performance, host.watts, Timestamp::max()};
    for (const Waiting& slot : host.waiting) {
      if (slot.asks_at < now) continue;
      ++one.slots;
      one.asks_at = std::min(one.asks_at, slot.asks_at);
    }
    if (one.slots > 0) idle.push_back(one);
  }
  std::sort(idle.begin(), idle.end(), [](const IdleHost& a, const IdleHost& b) { return a.host < b.host; });
  return idle;
}

// ---- Decisions --------------------------------------------------------------------------------------------

Served Dispatch::apply(const WorkDemand& demand, Timestamp now) {
  CHECK_TRUE(demand.units.size() >= demand.slots.size());
  Served served;
  {
    const Deciding deciding(deciding_);
    if (!demand.slots.empty()) serve(demand, now, served);
  }
  if (!served.grants.empty()) worked_at_ = now;
  note_waiting(demand, served, now);
  if (log_) log_(line_of({now, demand, text_of(served)}));
  return served;
}

void Dispatch::apply(const PulseEvent& event, Timestamp now) {
  note(event, now);
  shares_.settle(unit_finder(), now);
  for (auto& [strategy, plans] : groups_) {
    plans.tick(
        mapped(strategy), [&, &plans = plans] { return workers(plans, now); }, rules_, now, jobs_);
  }
}

void Dispatch::apply(const PlannedEvent& event, Timestamp now) {
  const auto found = groups_.find(event.job.strategy);
  if (found == groups_.end() || !found->second.awaits(event.job)) return;  // of a group that is gone
  note(event, now);
  found->second.finish(event.job, event.plan, event.seconds, now);
}

void Dispatch::apply(const ComparedEvent& event, Timestamp now) {
  if (log_) log_(line_of({now, event, text_of(event.verdict)}));
}

double Dispatch::heartbeat_seconds(std::span<const ProblemId> problems, Timestamp now) const {
  double interval = rules_.heartbeat;
  for (const ProblemId id : problems)
    if (const RecordedStage* const found = stage(id); found != nullptr)
      interval = std::min(interval, found->view().heartbeat_seconds(now));
  return std::max(1.0, interval);
}

// ---- Mapping ----------------------------------------------------------------------------------------------

const MappingGroup* Dispatch::plans(const std::string& strategy) const {
  const auto found = groups_.find(strategy);
  return found == groups_.end() ? nullptr : &found->second;
}

bool Dispatch::planning() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const auto& entry) { return entry.second.planning(); });
}

MappingGroup& Dispatch::group(const std::string& strategy) {
  return groups_.try_emplace(strategy, strategy).first->second;
}

std::vector<MappedProblem> Dispatch::mapped(const std::string& strategy) const {
  std::vector<MappedProblem> members;
  for (const auto& [id, problem] : problems_) {
    if (problem.stage && problem.terms.strategy == strategy)
      members.push_back({id, &problem.stage->view(), problem.terms.running});
  }
  return members;
}

// Every slot that is on, with the seconds until it has ended what it holds.
std::vector<PlanWorker> Dispatch::workers(const MappingGroup& group, Timestamp now) const {
  std::map<PlanSlot, double> busy;
  for (const auto& [id, problem] : problems_) {
    if (!problem.stage) continue;
    for (const SlotView& slot : problem.stage->view().slots_on(now))
      busy[{slot.host, slot.slot}] += slot.seconds_left;
  }
  for (const PlanSlot& slot : group.present(rules_, now)) busy.try_emplace(slot, 0);
  std::vector<PlanWorker> workers;
  for (const auto& [slot, seconds] : busy) {
    const auto host = hosts_.find(slot.host);
    if (host == hosts_.end() || host->second.terms.held_until > now || !host->second.terms.on_hold.empty())
      continue;
    PlanWorker worker{slot, benchmark_of(host->second.terms), seconds, {}};
    if (const auto* cannot = group.ruled_out(slot.host)) worker.excluded = *cannot;
    workers.push_back(std::move(worker));
  }
  return workers;
}

}  // namespace gleaner::policy
