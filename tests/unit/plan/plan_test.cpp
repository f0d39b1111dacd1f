#include "server/policy/plan/plan.h"

#include <numeric>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

double length(Range range) {
  return static_cast<double>(range.size());
}

std::unique_ptr<MappingStrategy> strategy(const std::string& text) {
  auto made = make_mapping(text);
  REQUIRE(made.ok());
  return std::move(made).value();
}

PlanInput four_workers(std::int64_t items, double cost) {
  PlanInput input;
  input.tasks = cut_tasks(ProblemId{1}, RangeSet(Range{0, items}), cost, length, 1000);
  for (const auto& [host, performance] : {std::pair{1, 10.0}, {2, 5.0}, {3, 2.0}, {4, 1.0}})
    input.workers.push_back({{HostId{host}, 0}, performance, 0, {}});
  return input;
}

std::int64_t items_of(const std::deque<PlanTask>& queue) {
  return std::accumulate(queue.begin(), queue.end(), std::int64_t{0},
                         [](std::int64_t sum, const PlanTask& task) { return sum + task.range.size(); });
}

}  // namespace

TEST_CASE("Tasks are cut at fixed boundaries, whatever is free") {
  RangeSet free(Range{0, 25});
  const auto whole = cut_tasks(ProblemId{7}, free, 10, length, 100);
  REQUIRE(whole.size() == 3);
  CHECK(whole[0].range == Range{0, 10});
  CHECK(whole[1].range == Range{10, 20});
  CHECK(whole[2].range == Range{20, 25});
  CHECK(whole[2].cost == 5);
  free.remove({3, 12});
  const auto rest = cut_tasks(ProblemId{7}, free, 10, length, 100);
  REQUIRE(rest.size() == 3);
  CHECK(rest[0].range == Range{0, 3});
  CHECK(rest[1].range == Range{12, 20});
  CHECK(rest[2].range == Range{20, 25});
  CHECK(cut_tasks(ProblemId{7}, free, 10, length, 2).size() == 2);
  CHECK(cut_tasks(ProblemId{7}, free, 0.1, length, 100).size() == 16);  // never less than an item
}

TEST_CASE("A plan gives every task to one slot, in proportion to what the hosts can do") {
  const PlanInput input = four_workers(1800, 10);
  for (const char* name : {"ef", "mm", "mxc", "pn"}) {
    INFO(name);
    const TaskPlan plan = make_plan(*strategy(name), input, {});
    CHECK(plan.taken);
    std::int64_t items = 0;
    for (const auto& [slot, queue] : plan.queues) items += items_of(queue);
    CHECK(items == 1800);
    CHECK(items_of(plan.queues.at({HostId{1}, 0})) == Approx(1000).margin(30));
    CHECK(items_of(plan.queues.at({HostId{4}, 0})) == Approx(100).margin(30));
    CHECK_FALSE(plan.reason.empty());
  }
}

TEST_CASE("What was observed replaces the benchmark") {
  PlanInput input = four_workers(1800, 10);
  TaskEstimator estimator;
  // Host 1 looks ten times faster than host 4, and is as slow.
  for (int i = 0; i < 8; ++i)
    for (const auto& [host, performance] : {std::pair{1, 10.0}, {2, 5.0}, {3, 2.0}, {4, 1.0}}) {
      Observation seen;
      seen.parameters.numbers = {10};
      seen.computation = 3;
      seen.rate = performance;
      seen.number = i;
      estimator.add(HostId{host}, seen);
    }
  input.estimators.emplace(ProblemId{1}, estimator);
  const TaskPlan plan = make_plan(*strategy("ef"), input, {});
  for (const auto& [slot, queue] : plan.queues) CHECK(items_of(queue) == 450);
  CHECK(plan.makespan == Approx(45 * 3).epsilon(0.01));
}

TEST_CASE("Hosts that cannot take a problem's tasks get none; busy ones get less") {
  PlanInput input = four_workers(1800, 10);
  input.workers[0].excluded = {ProblemId{1}};
  input.workers[1].start = 1e6;
  const TaskPlan plan = make_plan(*strategy("ef"), input, {});
  CHECK(plan.queues.at({HostId{1}, 0}).empty());
  CHECK(plan.queues.at({HostId{2}, 0}).empty());
  CHECK(items_of(plan.queues.at({HostId{3}, 0})) == Approx(1200).margin(20));
}

TEST_CASE("A plan that is no better leaves the queues as they are") {
  PlanInput input = four_workers(1800, 10);
  const TaskPlan first = make_plan(*strategy("ef"), input, {});
  PlanQueues queues;
  queues.install(first);
  CHECK(queues.waiting() == 180);
  input.present = queues.queues();
  CHECK_FALSE(make_plan(*strategy("ef"), input, {}).taken);
  // All on the slowest: any plan is better.
  PlanInput bad = input;
  bad.present.clear();
  bad.present[{HostId{4}, 0}] = {bad.tasks.begin(), bad.tasks.end()};
  CHECK(make_plan(*strategy("ef"), bad, {}).taken);
  // A task that is in no queue must be mapped.
  input.present.begin()->second.pop_back();
  CHECK(make_plan(*strategy("ef"), input, {}).taken);
}

TEST_CASE("Queues hand out in order, take back a rest, and forget a problem") {
  PlanQueues queues;
  TaskPlan plan;
  const PlanSlot slot{HostId{1}, 0};
  plan.queues[slot] = {{ProblemId{1}, {0, 5}, 5}, {ProblemId{2}, {0, 5}, 5}, {ProblemId{1}, {5, 9}, 4}};
  queues.install(plan);
  CHECK_FALSE(queues.take({HostId{2}, 0}));
  const auto first = queues.take(slot);
  REQUIRE(first);
  CHECK(first->range == Range{0, 5});
  queues.put_back(slot, {ProblemId{1}, {3, 5}, 2});
  CHECK(queues.take(slot)->range == Range{3, 5});
  queues.forget(ProblemId{2});
  CHECK(queues.take(slot)->range == Range{5, 9});
  CHECK_FALSE(queues.take(slot));
}
