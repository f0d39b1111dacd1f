// The problems that name one mapping strategy, planned together: queues, what was learned of their tasks, and
// what has happened since the last plan. In memory only: a restart plans again. Writer thread only.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>

#include "server/policy/estimation/smoothed.h"
#include "server/policy/plan/plan.h"
#include "shared/base/clock.h"

namespace gleaner::service {

struct MappingGroup {
  struct Begun {
    ProblemId problem;
    double cost = 0;
    double rate = 0;       // of the host's benchmark
    double predicted = 0;  // seconds
  };

  policy::PlanQueues queues;
  std::map<ProblemId, policy::TaskEstimator> estimators;
  std::map<ProblemId, double> task_cost;         // hint units of a task, once fixed
  std::map<UnitId, Begun> begun;                 // handed out and not back
  std::map<policy::PlanSlot, Timestamp> seen;    // when a slot last asked
  std::set<policy::PlanSlot> planned_for;        // the slots of the last plan
  std::map<HostId, std::set<ProblemId>> cannot;  // problems that a host's last request ruled out
  policy::SmoothedAverage seconds_per_task{policy::smoothing_of_problems};  // of planning
  std::int64_t completions = 0;                                             // since the last plan
  std::int64_t observations = 0;
  std::int64_t plans = 0;
  std::uint64_t placed = 0;
  bool planning = false;
  bool unmapped = false;  // tasks were left out of the last plan
  Timestamp planned_at{};
  std::shared_ptr<std::atomic<bool>> hurry;  // of the plan under way: somebody waits for it
};

}  // namespace gleaner::service
