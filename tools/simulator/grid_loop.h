// The loop of a simulated grid: what is due next, messages under way, and the two ends of the wire. Internal.
//   grid_loop.cpp    what happens when, and the sums at the end
//   grid_client.cpp  the clients' side: asking, delivering, obeying
//   grid_server.cpp  the server's side: the live server's project, which decides
//   grid_trust.cpp   what the hosts answer, and what the project's decisions on it change
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "server/policy/project/project.h"
#include "shared/base/random.h"
#include "tools/simulator/agenda.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/grid_host.h"
#include "tools/simulator/grid_mail.h"
#include "tools/simulator/results.h"

namespace gleaner::simulator {

// Numbers that the server knows them by.
[[nodiscard]] inline HostId host_id(std::size_t host) {
  return {static_cast<std::int64_t>(host) + 1};
}
[[nodiscard]] inline std::size_t index_of(HostId host) {
  return static_cast<std::size_t>(host.value - 1);
}
[[nodiscard]] inline ProblemId problem_id(std::size_t problem) {
  return {static_cast<std::int64_t>(problem) + 1};
}
[[nodiscard]] inline ApplicationId application_id(std::size_t problem) {
  return {static_cast<std::int64_t>(problem) + 1};
}

// The server's side of one problem.
struct SimulatedProblem {
  policy::RecordedStage* recorded = nullptr;  // the dispatcher's; null: it was not added yet
  RangeSet accepted;                          // our own count, where invariants are checked
  bool over = false;
  bool stopped = false;  // its application fails on most hosts: an administrator would have to look at it
  double ended_at = 0;
  [[nodiscard]] const policy::Stage& stage() const { return recorded->view(); }
};

// Its benchmark.
[[nodiscard]] double performance_of(const GridHost& host);

[[nodiscard]] policy::PlanRules plan_rules(const GridInstance& instance);

class GridLoop {
 public:
  explicit GridLoop(const GridInstance& instance);
  [[nodiscard]] GridRun run();

 private:
  [[nodiscard]] Timestamp stamp() const { return start_ + from_seconds(now_); }
  void fetch_next_letter() const;
  void arrive(Arrival arrival);
  void host_due(std::size_t id);
  void finish();
  void sample();

  // Client
  void trace_event(std::size_t id);
  void slot_end(std::size_t id, std::size_t index);
  void end_unit(std::size_t id, std::size_t index, std::size_t place);
  void predict(std::size_t id, std::size_t index);
  void exchange(std::size_t id);
  void say(std::size_t id, client_policy::Exchange what);
  void give_up(std::size_t id);
  void at_client(const Reply& reply);
  void take(std::size_t id, const Granted& granted);
  void obey(std::size_t id, const protocol::UnitOrder& order);
  void abandon(std::size_t id, UnitId unit);

  // Server
  void at_server(const Message& message);
  [[nodiscard]] bool commit(HostId host, const Commit& commit);
  void give_back_unknown(const Message& message);
  void take_failure(HostId host, const Failure& failure);
  void request(const Message& message, Reply& reply);
  void grant(const policy::SlotGrant& granted, Reply& reply);
  [[nodiscard]] double heartbeat_of(std::size_t host);
  void set_trust();
  void delivered(const Commit& commit, HostId host, const policy::CommitOutcome& outcome);
  void perform(policy::ProjectChanges changes);
  void sum_trust();
  // Hosts may be held back from applications.
  [[nodiscard]] bool may_hold() const { return trust_.liars || instance_.failure_chance > 0; }
  void look_whether_over();
  void add_problem(std::size_t problem);
  void tick();
  void note_changes();
  void check();
  void make_plans();
  void restart();
  [[nodiscard]] policy::RestoreEvent stored_of(std::size_t problem) const;
  void restore_stage(std::size_t problem, const policy::RestoreEvent& stored);
  void tell_project(std::size_t problem);
  void put_hosts();
  void put_host(std::size_t host);
  [[nodiscard]] policy::ProblemTerms terms_of(std::size_t problem) const;
  [[nodiscard]] policy::StageSetup setup_of(std::size_t problem) const;

  // Units that hosts have, as the server knows; closed ones go when they are next looked at.
  struct Held {
    UnitId unit;
    std::size_t problem = 0;
  };
  struct Server {
    double free_at = 0;  // has answered what came before
    double ticks_at = 0;
    double slowest_performance = 0;  // of all hosts
    std::int64_t next_unit = 1, received = 0;
    std::vector<std::vector<Held>> held;   // a host
    std::vector<Timestamp> blocked_until;  // hosts that fail with everything; empty: nothing failed yet
  };
  struct Known {
    std::int64_t delivered = 0;  // items
    std::int64_t accepted = 0, failures = 0;
    double lied_at = -1, found_at = -1;
  };
  struct Trust {
    bool liars = false;      // opinions are kept
    bool validates = false;  // some are asked for
    Random draws;
    std::vector<Known> known = {};  // a host
  };
  // Kept for their memory.
  struct Scratch {
    policy::Changes changes, changed;  // by one event; by one message, where that is checked
    policy::WorkDemand demand;
    std::vector<protocol::SlotRequest> wanted;
    std::vector<ProblemId> heartbeat_problems;
  };

  const GridInstance& instance_;
  Jobs jobs_;
  double total_work_ = 0, accepted_work_ = 0;
  std::vector<LocalHost> hosts_;
  Agenda agenda_;
  Mail mail_;
  Random random_;
  Timestamp start_{std::chrono::hours{24 * 365 * 56}};
  double now_ = 0;
  double sample_at_ = 0;
  policy::Project project_;
  Results results_;
  std::vector<SimulatedProblem> problems_;  // as jobs_
  Server server_;
  Trust trust_;
  Scratch scratch_;
  bool over_ = false;
  GridRun run_;
};

}  // namespace gleaner::simulator
