#include "server/policy/dispatch/mapping_group.h"

#include <algorithm>

#include "server/policy/mapping/remap.h"
#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

constexpr double tasks_per_slot = 16;          // while no rate is known, and at least at any time
constexpr double planning_wait_seconds = 0.1;  // Retry-After while a plan is being made
constexpr double replan_least = 0.5;           // seconds between two plans for idle slots

}  // namespace

TaskPlan make_plan(const PlanJob& job, const std::function<bool()>& stop) {
  const auto made = make_mapping(job.strategy);
  CHECK_TRUE(made.ok());
  return make_plan(**made, job.input, [&] { return job.hurry->load() || (stop && stop()); });
}

const std::set<ProblemId>* MappingGroup::ruled_out(HostId host) const {
  const auto found = cannot_.find(host);
  return found == cannot_.end() ? nullptr : &found->second;
}

std::vector<PlanSlot> MappingGroup::present(const PlanRules& rules, Timestamp now) const {
  std::vector<PlanSlot> slots;
  for (const auto& [slot, at] : seen_)
    if (now - at < from_seconds(rules.heartbeat)) slots.push_back(slot);
  return slots;
}

// Hint units of a task: fixed once the rates are known, so that the boundaries of tasks stay where they are.
double MappingGroup::task_cost(const MappedProblem& problem, std::size_t slots, const PlanRules& rules,
                               Timestamp now) {
  if (const auto fixed = task_cost_.find(problem.id); fixed != task_cost_.end()) return fixed->second;
  const auto counts = problem.stage->counts(now);
  const auto count = static_cast<double>(std::max<std::size_t>(1, slots));
  const double fine = std::max(counts.cost / (tasks_per_slot * count), 1e-9);
  if (counts.rate <= 0) return fine;
  const double shortest = problem.stage->heartbeat_seconds(now) * counts.rate / count;
  const double longest = rules.unit_maximum * counts.rate / count;
  return task_cost_[problem.id] = std::max(1e-9, std::min({fine, longest, std::max(shortest, fine / 8)}));
}

void MappingGroup::start(std::span<const MappedProblem> problems, const Workers& workers,
                         const PlanRules& rules, const std::string& why, Timestamp now,
                         std::vector<PlanJob>& jobs) {
  if (planning_) return;
  PlanInput input;
  input.workers = workers();
  if (input.workers.empty()) return;
  double first_idle = input.workers.front().start;
  for (const auto& worker : input.workers) first_idle = std::min(first_idle, worker.start);
  for (const MappedProblem& problem : problems) {
    if (!problem.running) continue;
    const auto more = cut_tasks(
        problem.id, problem.stage->ledger().free(), task_cost(problem, input.workers.size(), rules, now),
        [&](Range range) { return problem.stage->ledger().costs().of(range); },
        static_cast<std::size_t>(BatchLimits{}.most) + 1);
    input.tasks.insert(input.tasks.end(), more.begin(), more.end());
    if (const auto estimator = estimators_.find(problem.id); estimator != estimators_.end())
      input.estimators.emplace(problem.id, estimator->second);
  }
  if (input.tasks.empty()) return;
  const auto batch = static_cast<std::size_t>(batch_size(first_idle, seconds_per_task_.value().value_or(0),
                                                         static_cast<std::int64_t>(input.workers.size()),
                                                         static_cast<std::int64_t>(input.tasks.size())));
  unmapped_ = input.tasks.size() > batch;
  input.tasks.resize(std::min(batch, input.tasks.size()));
  input.present = queues_.queues();
  input.seed = static_cast<std::uint64_t>(++plans_);
  input.placed_before = placed_;
  planning_ = true;
  hurry_ = std::make_shared<std::atomic<bool>>(false);
  planned_for_.clear();
  for (const auto& worker : input.workers) planned_for_.insert(worker.slot);
  jobs.push_back({strategy_, why, std::move(input), hurry_});
}

void MappingGroup::finish(const PlanJob& job, TaskPlan plan, double seconds, Timestamp now) {
  CHECK_TRUE(awaits(job));
  planning_ = false;
  completions_ = 0;
  planned_at_ = now;
  placed_ = plan.placed;
  if (!job.input.tasks.empty()) seconds_per_task_.add(seconds / static_cast<double>(job.input.tasks.size()));
  if (plan.taken) queues_.install(plan);
}

// The next range of the slot's queue that is still free.
PlannedTask MappingGroup::take(PlanSlot slot, std::span<const MappedProblem> problems) {
  while (auto task = queues_.take(slot)) {
    const auto found = std::find_if(problems.begin(), problems.end(), [&](const MappedProblem& problem) {
      return problem.id == task->problem && problem.running;
    });
    if (found == problems.end()) continue;
    const auto parts = found->stage->ledger().free().within(task->range);
    if (parts.empty()) continue;
    const Range first = parts.front();
    if (const Range rest{first.end, task->range.end}; !rest.empty())
      queues_.put_back(slot, {task->problem, rest, found->stage->ledger().costs().of(rest)});
    return {task->problem, first, 0};
  }
  return {};
}

PlannedTask MappingGroup::next(PlanSlot slot, bool urgent, std::span<const MappedProblem> problems,
                               const Workers& workers, const PlanRules& rules, Timestamp now,
                               std::vector<PlanJob>& jobs) {
  seen_[slot] = now;
  PlannedTask planned = take(slot, problems);
  if (!planned.range.empty()) return planned;
  const bool free = std::any_of(problems.begin(), problems.end(), [](const MappedProblem& problem) {
    return !problem.stage->ledger().free().empty();
  });
  if (!free) return planned;
  planned.wait = planning_wait_seconds;
  if (planning_) {
    if (urgent) hurry_->store(true);
    return planned;
  }
  const bool new_here = !planned_for_.contains(slot);
  if (new_here || unmapped_ || now - planned_at_ >= from_seconds(replan_least))
    start(problems, workers, rules, new_here ? "a slot that was not planned for" : "an idle slot", now, jobs);
  if (!new_here) planned.wait = replan_least;
  return planned;
}

void MappingGroup::begun(ProblemId problem, const Unit& unit, double cost, double performance) {
  Begun begun{problem, cost, performance, 0};
  if (const auto estimator = estimators_.find(problem); estimator != estimators_.end())
    begun.predicted = estimator->second.estimate({unit.host, performance, 0, 0}, {{cost}, {}}, 0).computation;
  begun_[unit.id] = begun;
}

// What a unit took is an observation, if it was computed as it was handed out.
void MappingGroup::ended(const Unit& unit) {
  const auto begun = begun_.find(unit.id);
  if (begun == begun_.end()) return;
  if (unit.state == UnitState::done && unit.running_seconds > 0 &&
      (unit.handed_end == 0 || unit.handed_end == unit.range.end)) {
    Observation seen;
    seen.parameters.numbers = {begun->second.cost};
    seen.computation = unit.running_seconds;
    seen.rate = begun->second.rate;
    seen.predicted_computation = begun->second.predicted;
    seen.number = ++observations_;
    estimators_[begun->second.problem].add(unit.host, std::move(seen));
  }
  ++completions_;
  begun_.erase(begun);
}

void MappingGroup::tick(std::span<const MappedProblem> problems, const Workers& workers,
                        const PlanRules& rules, Timestamp now, std::vector<PlanJob>& jobs) {
  if (planning_ || queues_.plans() == 0) return;
  SincePlan since;
  std::set<PlanSlot> slots;
  for (const auto& worker : workers()) slots.insert(worker.slot);
  since.hosts = static_cast<std::int64_t>(slots.size());
  since.hosts_changed = slots != planned_for_;
  since.completions = completions_;
  since.work_arrived = unmapped_;
  if (const auto remap = should_remap(since); remap.remap)
    start(problems, workers, rules, remap.reason, now, jobs);
}

}  // namespace gleaner::policy
