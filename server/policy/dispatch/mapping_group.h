// The problems that name one mapping strategy, planned together: their queues, what was learned of their
// tasks, and when to plan again. Source: Page 2009, sections 3.1 and 3.2 (policy/plan, mapping/remap.h).
//
// Making a plan is a search that may take seconds, so it is a value: start() leaves a PlanJob, its owner runs
// it wherever it likes (the server: on its pool; a simulation: at once) and hands the plan back to finish().
// Only one is under way at a time. In memory only: a restart plans again. Pure, but for `hurry`, by which a
// job learns that somebody waits for it. Not thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/policy/estimation/smoothed.h"
#include "server/policy/plan/plan.h"
#include "server/policy/stage/stage.h"
#include "shared/base/clock.h"

namespace gleaner::policy {

struct PlanJob {
  std::string strategy;
  std::string why;
  PlanInput input;
  std::shared_ptr<std::atomic<bool>> hurry;  // a slot waits: end the search with what there is
};
// `stop` is asked now and then, besides `hurry`.
[[nodiscard]] TaskPlan make_plan(const PlanJob& job, const std::function<bool()>& stop);

struct PlanRules {
  double heartbeat = 60;       // seconds; who asked within it is there
  double unit_maximum = 1200;  // of a task
};

// A problem of the group whose stage has begun.
struct MappedProblem {
  ProblemId id;
  const Stage* stage = nullptr;
  bool running = true;
};

// What the plan has for an idle slot.
struct PlannedTask {
  ProblemId problem;
  Range range;      // empty: nothing; then `wait` says why
  double wait = 0;  // seconds until it is worth asking again; 0: all is handed out, the rest is the endgame's
};

class MappingGroup {
 public:
  using Workers = std::function<std::vector<PlanWorker>()>;

  explicit MappingGroup(std::string strategy) : strategy_(std::move(strategy)) {}

  // A slot asks. A plan that is due starts, into `jobs`.
  [[nodiscard]] PlannedTask next(PlanSlot slot, bool urgent, std::span<const MappedProblem> problems,
                                 const Workers& workers, const PlanRules& rules, Timestamp now,
                                 std::vector<PlanJob>& jobs);
  // The problems that its host cannot compute, as of its last request.
  void rule_out(HostId host, std::set<ProblemId> problems) { cannot_[host] = std::move(problems); }
  [[nodiscard]] const std::set<ProblemId>* ruled_out(HostId host) const;

  // A planned unit was handed out to a host of that benchmark; a unit is over.
  void begun(ProblemId problem, const Unit& unit, double cost, double performance);
  void ended(const Unit& unit);

  // Its strategy is another one now.
  void forget(ProblemId problem) { queues_.forget(problem); }
  [[nodiscard]] bool awaits(const PlanJob& job) const { return planning_ && job.hurry == hurry_; }
  // REQUIRES: awaits(job).
  void finish(const PlanJob& job, TaskPlan plan, double seconds, Timestamp now);
  // Once a second: whether anything calls for another plan.
  void tick(std::span<const MappedProblem> problems, const Workers& workers, const PlanRules& rules,
            Timestamp now, std::vector<PlanJob>& jobs);

  // Slots that asked within the last heartbeat.
  [[nodiscard]] std::vector<PlanSlot> present(const PlanRules& rules, Timestamp now) const;
  [[nodiscard]] const PlanQueues& queues() const { return queues_; }
  [[nodiscard]] bool planning() const { return planning_; }

 private:
  struct Begun {
    ProblemId problem;
    double cost = 0;
    double rate = 0;       // of the host's benchmark
    double predicted = 0;  // seconds
  };

  void start(std::span<const MappedProblem> problems, const Workers& workers, const PlanRules& rules,
             const std::string& why, Timestamp now, std::vector<PlanJob>& jobs);
  [[nodiscard]] double task_cost(const MappedProblem& problem, std::size_t slots, const PlanRules& rules,
                                 Timestamp now);
  [[nodiscard]] PlannedTask take(PlanSlot slot, std::span<const MappedProblem> problems);

  std::string strategy_;
  PlanQueues queues_;
  std::map<ProblemId, TaskEstimator> estimators_;
  std::map<ProblemId, double> task_cost_;                    // hint units of a task, once fixed
  std::map<UnitId, Begun> begun_;                            // handed out and not back
  std::map<PlanSlot, Timestamp> seen_;                       // when a slot last asked
  std::set<PlanSlot> planned_for_;                           // the slots of the last plan
  std::map<HostId, std::set<ProblemId>> cannot_;             // problems that a host's last request ruled out
  SmoothedAverage seconds_per_task_{smoothing_of_problems};  // of planning
  std::int64_t completions_ = 0;                             // since the last plan
  std::int64_t observations_ = 0, plans_ = 0;
  std::uint64_t placed_ = 0;
  bool planning_ = false;
  bool unmapped_ = false;  // tasks were left out of the last plan
  Timestamp planned_at_{};
  std::shared_ptr<std::atomic<bool>> hurry_;
};

}  // namespace gleaner::policy
