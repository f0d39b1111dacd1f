#include "server/service/mapping.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/policy/mapping/remap.h"
#include "server/policy/strategies.h"
#include "server/service/dispatch.h"

namespace gleaner::service {
namespace {

constexpr double tasks_per_slot = 16;          // while no rate is known, and at least at any time
constexpr double planning_wait_seconds = 0.1;  // Retry-After while a plan is being made
constexpr Duration replan_least = std::chrono::milliseconds{500};
constexpr std::string_view sizing_beside_mapping = "wis";  // never asked while queues are used

// Hint units of a task: fixed once the rates are known, so that the boundaries of tasks stay where they are.
double task_cost(const Transaction& tx, MappingGroup& group, const Problem& problem, std::size_t slots) {
  if (const auto fixed = group.task_cost.find(problem.row.id); fixed != group.task_cost.end())
    return fixed->second;
  const auto counts = problem.stage->view().counts(tx.now);
  const auto count = static_cast<double>(std::max<std::size_t>(1, slots));
  const double fine = std::max(counts.cost / (tasks_per_slot * count), 1e-9);
  if (counts.rate <= 0) return fine;
  const double shortest = problem.stage->view().heartbeat_seconds(tx.now) * counts.rate / count;
  const double longest = tx.settings.configuration.unit_maximum_seconds * counts.rate / count;
  return group.task_cost[problem.row.id] =
             std::max(1e-9, std::min({fine, longest, std::max(shortest, fine / 8)}));
}

// Every slot that is on, with the seconds until it has ended what it holds.
std::vector<policy::PlanWorker> plan_workers(const Transaction& tx, const MappingGroup& group) {
  std::map<policy::PlanSlot, double> busy;
  for (const auto& [id, problem] : tx.model.problems) {
    if (!problem.stage) continue;
    for (const auto& slot : problem.stage->view().slots_on(tx.now))
      busy[{slot.host, slot.slot}] += slot.seconds_left;
  }
  for (const auto& [slot, at] : group.seen)
    if (tx.now - at < from_seconds(tx.settings.configuration.heartbeat_seconds)) busy.try_emplace(slot, 0);
  std::vector<policy::PlanWorker> workers;
  for (const auto& [slot, seconds] : busy) {
    const auto host = tx.model.hosts.find(slot.host);
    if (host == tx.model.hosts.end() || policy::blocked_for(host->second.row.health, tx.now)) continue;
    policy::PlanWorker worker;
    worker.slot = slot;
    worker.performance = host->second.row.mflops;
    worker.start = seconds;
    if (const auto cannot = group.cannot.find(slot.host); cannot != group.cannot.end())
      worker.excluded = cannot->second;
    workers.push_back(std::move(worker));
  }
  return workers;
}

// What is free of the group's problems, cut into tasks, and what is known of their times.
void add_free_tasks(const Transaction& tx, const std::string& strategy, MappingGroup& group,
                    policy::PlanInput& input) {
  for (const auto& [id, problem] : tx.model.problems) {
    if (problem.row.strategy != strategy || problem.row.state != protocol::ProblemState::running ||
        !problem.stage)
      continue;
    const auto more = policy::cut_tasks(
        id, problem.stage->view().free(), task_cost(tx, group, problem, input.workers.size()),
        [&problem = problem](Range range) { return problem.stage->view().cost(range); },
        static_cast<std::size_t>(policy::BatchLimits{}.most) + 1);
    input.tasks.insert(input.tasks.end(), more.begin(), more.end());
    if (const auto estimator = group.estimators.find(id); estimator != group.estimators.end())
      input.estimators.emplace(id, estimator->second);
  }
}

void start_plan(Transaction& tx, const std::string& strategy, MappingGroup& group, const std::string& why) {
  if (group.planning) return;
  policy::PlanInput input;
  input.workers = plan_workers(tx, group);
  if (input.workers.empty()) return;
  double first_idle = input.workers.front().start;
  for (const auto& worker : input.workers) first_idle = std::min(first_idle, worker.start);
  add_free_tasks(tx, strategy, group, input);
  if (input.tasks.empty()) return;
  const auto batch = static_cast<std::size_t>(policy::batch_size(
      first_idle, group.seconds_per_task.value().value_or(0), static_cast<std::int64_t>(input.workers.size()),
      static_cast<std::int64_t>(input.tasks.size())));
  group.unmapped = input.tasks.size() > batch;
  input.tasks.resize(std::min(batch, input.tasks.size()));
  input.present = group.queues.queues();
  input.seed = static_cast<std::uint64_t>(++group.plans);
  input.placed_before = group.placed;
  group.planning = true;
  group.hurry = std::make_shared<std::atomic<bool>>(false);
  group.planned_for.clear();
  for (const auto& worker : input.workers) group.planned_for.insert(worker.slot);
  tx.effects.add(effect::Map{strategy, why, std::move(input), group.hurry});
}

// The next range of the slot's queue that is still free; an empty one if there is none for it now.
Range planned_range(Model& model, MappingGroup& group, policy::PlanSlot slot, ProblemId& problem_id) {
  while (auto task = group.queues.take(slot)) {
    const auto found = model.problems.find(task->problem);
    if (found == model.problems.end() || !found->second.stage ||
        found->second.row.state != protocol::ProblemState::running)
      continue;
    const auto parts = found->second.stage->view().free().within(task->range);
    if (parts.empty()) continue;
    problem_id = task->problem;
    const Range first = parts.front();
    if (first.end < task->range.end)
      group.queues.put_back(slot, {task->problem,
                                   {first.end, task->range.end},
                                   found->second.stage->view().cost({first.end, task->range.end})});
    return first;
  }
  return {};
}

}  // namespace

std::string sizing_text(const std::string& strategy) {
  const auto kind = policy::strategy_kind(strategy);
  return kind.ok() && *kind == policy::StrategyKind::mapping ? std::string(sizing_beside_mapping) : strategy;
}

bool is_mapped(const Problem& problem) {
  return sizing_text(problem.row.strategy) != problem.row.strategy;
}

Planned next_planned(Transaction& tx, const Host& host, const protocol::SlotRequest& slot,
                     const protocol::WorkRequest& request, const std::string& strategy) {
  MappingGroup& group = tx.model.groups[strategy];
  const policy::PlanSlot key{host.row.id, slot.slot};
  group.seen[key] = tx.now;
  auto& cannot = group.cannot[host.row.id];
  cannot.clear();
  bool free = false;
  for (const auto& [id, problem] : tx.model.problems) {
    if (problem.row.strategy != strategy || !problem.stage) continue;
    if (!can_compute(problem, request)) cannot.insert(id);
    free = free || !problem.stage->view().free().empty();
  }
  Planned planned;
  planned.range = planned_range(tx.model, group, key, planned.problem);
  if (!planned.range.empty()) {
    planned.reason = group.queues.reason();
    return planned;
  }
  if (!free) return planned;  // the rest is the endgame's
  planned.wait = planning_wait_seconds;
  if (group.planning) {
    if (slot.urgent) group.hurry->store(true);
    return planned;
  }
  const bool new_here = !group.planned_for.contains(key);
  if (new_here || group.unmapped || tx.now - group.planned_at >= replan_least)
    start_plan(tx, strategy, group, new_here ? "a slot that was not planned for" : "an idle slot");
  if (!new_here) planned.wait = to_seconds(replan_least);
  return planned;
}

void note_begun(Model& model, const Problem& problem, const policy::Unit& unit, const Host& host) {
  MappingGroup& group = model.groups[problem.row.strategy];
  const double cost = problem.stage->view().cost(unit.range);
  MappingGroup::Begun begun{problem.row.id, cost, host.row.mflops, 0};
  if (const auto estimator = group.estimators.find(problem.row.id); estimator != group.estimators.end())
    begun.predicted =
        estimator->second.estimate({host.row.id, host.row.mflops, 0, 0}, {{cost}, {}}, 0).computation;
  group.begun[unit.id] = begun;
}

void note_ended(Model& model, const policy::Unit& unit) {
  if (unit.state == policy::UnitState::open) return;
  for (auto& [strategy, group] : model.groups) {
    const auto begun = group.begun.find(unit.id);
    if (begun == group.begun.end()) continue;
    if (unit.state == policy::UnitState::done && unit.running_seconds > 0 &&
        (unit.handed_end == 0 || unit.handed_end == unit.range.end)) {
      policy::Observation seen;
      seen.parameters.numbers = {begun->second.cost};
      seen.computation = unit.running_seconds;
      seen.rate = begun->second.rate;
      seen.predicted_computation = begun->second.predicted;
      seen.number = ++group.observations;
      group.estimators[begun->second.problem].add(unit.host, std::move(seen));
    }
    ++group.completions;
    group.begun.erase(begun);
    return;
  }
}

void take_mapping(Transaction& tx, const effect::Map& job, const policy::TaskPlan& plan, double seconds) {
  const auto found = tx.model.groups.find(job.strategy);
  if (found == tx.model.groups.end() || !found->second.planning || found->second.hurry != job.hurry) return;
  MappingGroup& group = found->second;
  group.planning = false;
  group.completions = 0;
  group.planned_at = tx.now;
  group.placed = plan.placed;
  group.seconds_per_task.add(seconds / static_cast<double>(job.input.tasks.size()));
  if (plan.taken) group.queues.install(plan);
  tx.effects.add(
      effect::LogLine{effect::LogLine::Level::debug,
                      fmt::format("plan {} of {} ({}): {}{}", job.input.seed, job.strategy, job.why,
                                  plan.reason, plan.taken ? "" : "; no better than the queues as they are")});
}

void tick_mapping(Transaction& tx) {
  for (auto group = tx.model.groups.begin(); group != tx.model.groups.end();) {
    const std::string strategy = group->first;
    const bool used = std::any_of(tx.model.problems.begin(), tx.model.problems.end(), [&](const auto& entry) {
      return entry.second.row.strategy == strategy && !over(entry.second.row.state);
    });
    if (!used) {
      group = tx.model.groups.erase(group);
      continue;
    }
    MappingGroup& state = group->second;
    ++group;
    if (state.planning || state.queues.plans() == 0) continue;
    policy::SincePlan since;
    std::set<policy::PlanSlot> slots;
    for (const auto& worker : plan_workers(tx, state)) slots.insert(worker.slot);
    since.hosts = static_cast<std::int64_t>(slots.size());
    since.hosts_changed = slots != state.planned_for;
    since.completions = state.completions;
    since.work_arrived = state.unmapped;
    if (const auto remap = policy::should_remap(since); remap.remap)
      start_plan(tx, strategy, state, remap.reason);
  }
}

}  // namespace gleaner::service
