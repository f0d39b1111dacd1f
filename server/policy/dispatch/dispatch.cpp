#include "server/policy/dispatch/dispatch.h"

#include <algorithm>

#include "server/policy/dispatch/log.h"
#include "server/policy/journal/lines.h"
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

Dispatch::Dispatch(PlanRules rules, Sink log) : rules_(rules), log_(std::move(log)) {
  if (log_) log_(log::begins(rules_));
}
Dispatch::~Dispatch() = default;

// ---- Problems ---------------------------------------------------------------------------------------------

void Dispatch::put_problem(ProblemId id, const ProblemTerms& terms, Timestamp now,
                           std::optional<double> service) {
  if (log_) log_(log::problem(id, terms, service, now));
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

void Dispatch::drop_problem(ProblemId id, Timestamp now) {
  if (log_) log_(log::problem("drop_problem", id, now));
  close_stage(id, now);
  shares_.forget(id);
  problems_.erase(id);
  std::erase_if(groups_, [&](const auto& entry) { return mapped(entry.first).empty(); });
}

RecordedStage& Dispatch::make_stage(ProblemId id, const StageSetup& setup, Timestamp now, Sink log) {
  close_stage(id, now);
  if (log_) {
    log = Sink(
        [this, id, own = log](const std::string& line) {
          if (own) own(line);
          if (!deciding_ && log_) log_(log::stage_event(id, line));
        },
        [this, own = log](std::size_t bytes) {
          const bool both = !deciding_ && log_.has_room(bytes);
          return own.has_room(bytes) || both;
        });
  }
  Problem& problem = problems_[id];
  problem.stage = std::make_unique<RecordedStage>(
      setup, std::move(log), [this, id](const Changes& changes, Timestamp at) { changed(id, changes, at); });
  return *problem.stage;
}

RecordedStage& Dispatch::begin_stage(ProblemId id, const StageSetup& setup, Timestamp now, Sink log) {
  if (log_) log_(log::stage(id, setup, nullptr, now));
  const Deciding deciding(deciding_);
  RecordedStage& stage = make_stage(id, setup, now, std::move(log));
  compete(id, problems_.at(id), now);
  if (const auto hosts = waiting(now); !hosts.empty()) stage.apply(ExpectEvent{hosts}, now);
  return stage;
}

RecordedStage& Dispatch::restore_stage(ProblemId id, const StageSetup& setup, const RestoreEvent& stored,
                                       Timestamp now, Sink log) {
  if (log_.has_room(restore_bytes_least(stored.units.size(), stored.hosts.size())))
    log_(log::stage(id, setup, &stored, now));
  const Deciding deciding(deciding_);
  RecordedStage& stage = make_stage(id, setup, now, std::move(log));
  for (const Range range : stored.leased) stage.apply(BringEvent{range, 0}, now);
  stage.apply(stored, now);
  for (const Unit* unit : stage.view().open_units()) shares_.took(id, *unit, false, now);
  Problem& problem = problems_.at(id);
  if (problem.terms.running) shares_.enter(id, problem.terms.share, now, shares_.service(id, now));
  return stage;
}

void Dispatch::end_stage(ProblemId id, Timestamp now) {
  if (log_) log_(log::problem("end_stage", id, now));
  close_stage(id, now);
}

void Dispatch::close_stage(ProblemId id, Timestamp now) {
  const auto found = problems_.find(id);
  if (found == problems_.end() || !found->second.stage) return;
  for (const Unit* unit : found->second.stage->view().open_units()) shares_.closed(id, *unit, now);
  shares_.withdraw(id);
  found->second.stage.reset();
}

RecordedStage* Dispatch::stage(ProblemId id) const {
  const auto found = problems_.find(id);
  return found == problems_.end() ? nullptr : found->second.stage.get();
}

// After each event of a stage: units that are over hold no slot any more.
void Dispatch::changed(ProblemId id, const Changes& changes, Timestamp now) {
  const Problem& problem = problems_.at(id);
  for (const UnitId unit_id : changes.units) {
    const Unit* unit = problem.stage->view().unit(unit_id);
    if (unit == nullptr || unit->state == UnitState::open) continue;
    shares_.closed(id, *unit, now);
    if (problem.mapped) group(problem.terms.strategy).ended(*unit);
  }
}

FairShare::FindUnit Dispatch::unit_finder() const {
  return [this](ProblemId id, UnitId unit) -> const Unit* {
    const RecordedStage* const found = stage(id);
    return found == nullptr ? nullptr : found->view().unit(unit);
  };
}

// ---- Hosts ------------------------------------------------------------------------------------------------

void Dispatch::put_host(HostId host, const HostTerms& terms, Timestamp now) {
  const auto [place, fresh] = hosts_.try_emplace(host);
  if (!fresh && place->second.terms == terms) return;
  if (log_) log_(log::host(host, terms, now));
  place->second.terms = terms;
}

void Dispatch::drop_host(HostId host, Timestamp now) {
  if (log_) log_(log::drop_host(host, now));
  hosts_.erase(host);
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

Served Dispatch::request(const WorkDemand& demand, Timestamp now) {
  CHECK_TRUE(demand.units.size() >= demand.slots.size());
  Served served;
  {
    const Deciding deciding(deciding_);
    if (!demand.slots.empty()) serve(demand, now, served);
  }
  note_waiting(demand, served, now);
  if (log_) log_(log::work(demand, served, now));
  return served;
}

void Dispatch::tick(Timestamp now) {
  if (log_) log_(log::tick(now));
  shares_.settle(unit_finder(), now);
  for (auto& [strategy, plans] : groups_) {
    plans.tick(
        mapped(strategy), [&, &plans = plans] { return workers(plans, now); }, rules_, now, jobs_);
  }
}

void Dispatch::planned(const PlanJob& job, const TaskPlan& plan, double seconds, Timestamp now) {
  const auto found = groups_.find(job.strategy);
  if (found == groups_.end() || !found->second.awaits(job)) return;  // of a group that is gone
  if (log_) log_(log::planned(job.strategy, plan, seconds, now));
  found->second.finish(job, plan, seconds, now);
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
