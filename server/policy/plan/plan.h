// Mapping strategies live: fixed ranges of items of all problems that name the same strategy are mapped
// together to the slots of the hosts, and the server keeps the queues. Source: Page 2009, sections 3.1 and
// 3.2: hosts hold no queue, only tasks that are not begun are mapped again; remap.h says when.
//
// make_plan() is a pure function of its input and may take long (a search): it runs on another thread than
// the one that owns PlanQueues. PlanQueues is not thread-safe. Times in seconds, costs in hint units.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/estimation/estimator.h"
#include "server/policy/mapping/mapping.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

// Items that are handed out together; `range` may since have been taken in part.
struct PlanTask {
  ProblemId problem;
  Range range;
  double cost = 0;
  friend bool operator==(const PlanTask&, const PlanTask&) = default;
};

struct PlanSlot {
  HostId host;
  int slot = 0;
  friend auto operator<=>(const PlanSlot&, const PlanSlot&) = default;
};

struct PlanWorker {
  PlanSlot slot;
  double performance = 0;        // of its host's benchmark; 0 unknown
  double start = 0;              // seconds until what it holds is done
  std::set<ProblemId> excluded;  // problems whose tasks it cannot take
};

struct PlanInput {
  std::vector<PlanTask> tasks;  // queued or not mapped yet, in order of problem and item
  std::vector<PlanWorker> workers;
  std::map<ProblemId, TaskEstimator> estimators;     // copies; missing: nothing known
  std::map<PlanSlot, std::deque<PlanTask>> present;  // the queues of now, to be beaten
  std::uint64_t seed = 1;
  std::uint64_t placed_before = 0;
};

struct TaskPlan {
  std::map<PlanSlot, std::deque<PlanTask>> queues;
  double makespan = 0;
  std::uint64_t placed = 0;
  bool taken = true;   // false: the present queues are as good, they stay
  std::string reason;  // one sentence
};

// `stop` as in MappingInput.
[[nodiscard]] TaskPlan make_plan(const MappingStrategy& strategy, const PlanInput& input,
                                 std::function<bool()> stop);

// The pieces of `free` between fixed boundaries: every `cost` hint units from item 0 on. `cost_of` tells the
// cost of a range. At most `most` pieces, the first ones.
[[nodiscard]] std::vector<PlanTask> cut_tasks(ProblemId problem, const RangeSet& free, double cost,
                                              const std::function<double(Range)>& cost_of, std::size_t most);

class PlanQueues {
 public:
  void install(const TaskPlan& plan) {
    queues_ = plan.queues;
    reason_ = plan.reason;
    ++plans_;
  }
  // The next task of the slot, which leaves its queue.
  [[nodiscard]] std::optional<PlanTask> take(PlanSlot slot);
  // The rest of a task that was not wholly handed out: first in its slot's queue again.
  void put_back(PlanSlot slot, PlanTask task) { queues_[slot].push_front(task); }
  void forget(ProblemId problem);

  [[nodiscard]] const std::map<PlanSlot, std::deque<PlanTask>>& queues() const { return queues_; }
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::int64_t plans() const { return plans_; }

 private:
  std::map<PlanSlot, std::deque<PlanTask>> queues_;
  std::string reason_;
  std::int64_t plans_ = 0;
};

}  // namespace gleaner::policy
