#include "server/policy/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/policy/estimation/clamps.h"
#include "server/policy/mapping/remap.h"

namespace gleaner::policy {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double mean_performance(const std::vector<PlanWorker>& workers) {
  double sum = 0;
  int known = 0;
  for (const PlanWorker& worker : workers) {
    if (worker.performance <= 0) continue;
    sum += worker.performance;
    ++known;
  }
  return known > 0 ? sum / known : 1;
}

// While nothing is known of a problem only the proportions of its costs and of the hosts' benchmarks count.
TaskEstimate guess(const PlanTask& task, const PlanWorker& worker, double mean) {
  TaskEstimate estimate;
  estimate.computation =
      clamped_seconds(task.cost * mean / (worker.performance > 0 ? worker.performance : mean));
  estimate.communication = least_seconds;
  estimate.error = unknown_error;
  return estimate;
}

MappingInput mapping_input(const PlanInput& input) {
  MappingInput mapping;
  const std::size_t tasks = input.tasks.size(), workers = input.workers.size();
  mapping.computation = Matrix(tasks, workers);
  mapping.communication = Matrix(tasks, workers);
  mapping.error = Matrix(tasks, workers);
  mapping.seed = input.seed;
  mapping.placed_before = input.placed_before;
  const double mean = mean_performance(input.workers);
  for (const PlanWorker& worker : input.workers) {
    mapping.start.push_back(worker.start);
    mapping.rates.push_back(worker.performance > 0 ? worker.performance : mean);
  }
  // Most tasks of a problem cost the same, and slots of a host are alike: each estimate is made once.
  std::map<std::pair<ProblemId, HostId>, std::map<double, TaskEstimate>> known;
  for (std::size_t i = 0; i < tasks; ++i) {
    const PlanTask& task = input.tasks[i];
    mapping.work.push_back(task.cost);
    const auto estimator = input.estimators.find(task.problem);
    for (std::size_t j = 0; j < workers; ++j) {
      const PlanWorker& worker = input.workers[j];
      auto& estimates = known[{task.problem, worker.slot.host}];
      auto found = estimates.find(task.cost);
      if (found == estimates.end()) {
        TaskEstimate estimate;
        if (estimator != input.estimators.end())
          estimate =
              estimator->second.estimate({worker.slot.host, worker.performance, 0, 0}, {{task.cost}, {}}, 0);
        if (estimate.quality == Quality::unknown) estimate = guess(task, worker, mean);
        found = estimates.emplace(task.cost, estimate).first;
      }
      mapping.computation(i, j) = worker.excluded.contains(task.problem) ? never : found->second.computation;
      mapping.communication(i, j) = found->second.communication;
      mapping.error(i, j) = found->second.error;
    }
  }
  return mapping;
}

// The present queues as indices of the tasks and workers of the input; tasks that are in none stay out.
std::vector<std::vector<std::size_t>> present_queues(const PlanInput& input, std::size_t& mapped) {
  std::map<std::pair<ProblemId, std::int64_t>, std::size_t> index;
  for (std::size_t i = 0; i < input.tasks.size(); ++i)
    index[{input.tasks[i].problem, input.tasks[i].range.begin}] = i;
  std::vector<std::vector<std::size_t>> queues(input.workers.size());
  mapped = 0;
  for (std::size_t j = 0; j < input.workers.size(); ++j) {
    const auto queue = input.present.find(input.workers[j].slot);
    if (queue == input.present.end()) continue;
    for (const PlanTask& task : queue->second) {
      const auto found = index.find({task.problem, task.range.begin});
      if (found == index.end() || input.tasks[found->second].range != task.range) continue;
      queues[j].push_back(found->second);
      ++mapped;
    }
  }
  return queues;
}

}  // namespace

TaskPlan make_plan(const MappingStrategy& strategy, const PlanInput& input, std::function<bool()> stop) {
  MappingInput mapping = mapping_input(input);
  mapping.stop = std::move(stop);
  const Schedule schedule = strategy.generate(mapping);
  TaskPlan plan;
  plan.makespan = schedule.makespan;
  plan.placed = schedule.placed;
  plan.reason = fmt::format("{}; {} tasks on {} slots, planned to end in {:.3g} s", schedule.reason,
                            input.tasks.size(), input.workers.size(), schedule.makespan);
  std::size_t mapped = 0;
  const auto present = present_queues(input, mapped);
  if (mapped == input.tasks.size() && !input.tasks.empty())
    plan.taken = should_replace(predicted_makespan(mapping, present), schedule.makespan).remap;
  for (std::size_t j = 0; j < input.workers.size(); ++j) {
    auto& queue = plan.queues[input.workers[j].slot];
    for (const std::size_t task : schedule.queues[j]) queue.push_back(input.tasks[task]);
  }
  return plan;
}

std::vector<PlanTask> cut_tasks(ProblemId problem, const RangeSet& free, double cost,
                                const std::function<double(Range)>& cost_of, std::size_t most) {
  std::vector<PlanTask> tasks;
  for (const Range& range : free.ranges()) {
    std::int64_t begin = range.begin;
    while (begin < range.end) {
      if (tasks.size() >= most) return tasks;
      // The first item at which the next multiple of `cost` is reached: found by bisection.
      const double boundary = (std::floor(cost_of({0, begin}) / cost + 1e-9) + 1) * cost;
      std::int64_t low = begin + 1, high = range.end;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (cost_of({0, middle}) >= boundary * (1 - 1e-12)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      tasks.push_back({problem, {begin, low}, cost_of({begin, low})});
      begin = low;
    }
  }
  return tasks;
}

std::optional<PlanTask> PlanQueues::take(PlanSlot slot) {
  const auto queue = queues_.find(slot);
  if (queue == queues_.end() || queue->second.empty()) return std::nullopt;
  PlanTask task = queue->second.front();
  queue->second.pop_front();
  return task;
}

void PlanQueues::forget(ProblemId problem) {
  for (auto& [slot, queue] : queues_)
    std::erase_if(queue, [&](const PlanTask& task) { return task.problem == problem; });
}

std::size_t PlanQueues::waiting() const {
  std::size_t count = 0;
  for (const auto& [slot, queue] : queues_) count += queue.size();
  return count;
}

}  // namespace gleaner::policy
