// The project as the scheduler sees it: all problems with their stages, all hosts, and one request at a time.
// Says who gets what, in which order (fair_share.h), who waits how long and why, and when mapping strategies
// plan (mapping_group.h). The live server and the simulator drive this same object. It knows
// nothing beyond its events (events.h), those of its stages, and `now`.
//
// The owner keeps rows, blobs, signatures and jobs; after a call it stores what `changes` name. Unit ids come
// from the owner. With a sink, all of it is written down with what was decided: the decision log (log.h),
// which `gleaner-sim replay` plays again.
//
// Pure: no I/O, no clock. Not thread-safe. Cost of a request: O(problems) besides that of the stage asked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/dispatch/events.h"
#include "server/policy/dispatch/fair_share.h"
#include "server/policy/dispatch/log.h"
#include "server/policy/dispatch/log_sink.h"
#include "server/policy/dispatch/mapping_group.h"
#include "server/policy/journal/recorded_stage.h"
#include "shared/base/id_table.h"

namespace gleaner::policy {

// Seconds between two segments of a unit, as its grant says: a problem that is over in a minute cannot wait a
// minute for its first results. `most`: of its problem, at least 1.
[[nodiscard]] double commit_seconds(double heartbeat_seconds, double most);

class Dispatch {
 public:
  // `log`: hears everything that dispatch is told, with what it decided (log.h).
  explicit Dispatch(PlanRules rules, LogSink log = {});
  ~Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

  // ---- Events. A problem competes while it is running and has a stage.
  void apply(const ProblemEvent& event, Timestamp now);
  void apply(const DropProblemEvent& event, Timestamp now);
  RecordedStage& apply(const BeginStageEvent& event, Timestamp now);
  void apply(const HostEvent& event, Timestamp now);
  void apply(const DropHostEvent& event, Timestamp now);
  // The host gets at most one unit a slot; `demand.units` holds an unused id for each.
  Served apply(const WorkDemand& demand, Timestamp now);
  void apply(const PulseEvent& event, Timestamp now);
  void apply(const PlannedEvent& event, Timestamp now);
  void apply(const ComparedEvent& event, Timestamp now);

  // Null: none has begun. Everything that happens to the stage but requests is told to it directly.
  [[nodiscard]] RecordedStage* stage(ProblemId problem) const;
  // Plans to be made, each handed back with a PlannedEvent; a job that is lost ends its group's planning for
  // good.
  [[nodiscard]] std::vector<PlanJob> take_jobs() { return std::exchange(jobs_, {}); }

  // Seconds until a host is to say how its units of these problems stand.
  [[nodiscard]] double heartbeat_seconds(std::span<const ProblemId> problems, Timestamp now) const;

  // ---- For the store and for people
  // Null: no problem with a stage names that mapping strategy, or none has asked yet.
  [[nodiscard]] const MappingGroup* plans(const std::string& strategy) const;
  [[nodiscard]] bool planning() const;
  [[nodiscard]] const FairShare& shares() const { return shares_; }
  // Slots that wait for work, a line a host, of hosts that say what they draw.
  [[nodiscard]] std::vector<IdleHost> waiting(Timestamp now) const;

 private:
  struct Problem {
    ProblemTerms terms;
    bool mapped = false;
    std::unique_ptr<RecordedStage> stage;
  };
  struct Waiting {
    int slot = 0;
    Timestamp asked_at, asks_at;
  };
  struct Host {
    HostTerms terms;
    double performance = 0, watts = 0;  // as it last proposed
    std::vector<Waiting> waiting;       // slots that got nothing
  };
  struct Attempt;
  class Observer;

  // Written down, if anybody wants it.
  template <typename Event>
  void note(const Event& event, Timestamp now) const {
    if (log_) log_(line_of({now, event}));
  }
  void close_stage(ProblemId problem, Timestamp now);
  void compete(ProblemId id, Problem& problem, Timestamp now, std::optional<double> service = {});
  [[nodiscard]] FairShare::FindUnit unit_finder() const;

  // request.cpp
  void serve(const WorkDemand& asked, Timestamp now, Served& served);
  // When a host asks again for which no problem has anything.
  [[nodiscard]] double rest_seconds(const Host& host, Timestamp now) const;
  void serve_slot(Attempt& attempt, const SlotDemand& slot, UnitId unit);
  [[nodiscard]] bool ask(Attempt& attempt, const SlotDemand& slot, ProblemId problem, UnitId unit,
                         const PlannedTask* planned);
  [[nodiscard]] bool can_compute(const Host& host, ProblemId id, const Problem& problem,
                                 const WorkDemand& demand) const;
  void note_waiting(const WorkDemand& demand, const Served& served, Timestamp now);

  // Mapping
  MappingGroup& group(const std::string& strategy);
  [[nodiscard]] std::vector<MappedProblem> mapped(const std::string& strategy) const;
  [[nodiscard]] std::vector<PlanWorker> workers(const MappingGroup& group, Timestamp now) const;

  PlanRules rules_;
  LogSink log_;
  bool deciding_ = false;  // what stages are asked meanwhile follows from the event
  std::map<ProblemId, Problem> problems_;
  IdTable<HostId, Host> hosts_;
  std::optional<Timestamp> worked_at_;  // a unit was granted, or a stage ended
  FairShare shares_;
  std::map<std::string, MappingGroup> groups_;  // by the text of the mapping strategy
  std::vector<PlanJob> jobs_;
};

}  // namespace gleaner::policy
