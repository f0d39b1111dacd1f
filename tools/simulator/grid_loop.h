// The loop of a simulated grid: what is due next, messages under way, and the two ends of the wire. Internal.
//   grid_loop.cpp    what happens when, and the sums at the end
//   grid_client.cpp  the clients' side: asking, delivering, obeying
//   grid_server.cpp  the server's side: the live server's dispatch, which decides
//   grid_trust.cpp   which results the server believes
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "server/policy/blame.h"
#include "server/policy/dispatch/dispatch.h"
#include "server/policy/stage/stage.h"
#include "server/policy/trust/audits.h"
#include "shared/base/random.h"
#include "tools/simulator/agenda.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/grid_host.h"
#include "tools/simulator/opinions.h"

namespace gleaner::simulator {

struct Granted {
  int slot = 0;
  UnitId unit;
  std::size_t problem = 0;
  Range range;
  policy::UnitKind kind = policy::UnitKind::fresh;
  double begun_share = 0;  // of the first item: it goes on from there
  double commit_seconds = 60;
};

struct Reply {
  std::size_t host = 0;
  std::int64_t exchange = 0;  // that it answers
  std::vector<protocol::UnitOrder> orders = {};
  std::vector<UnitId> refused = {};  // whose results are not taken
  std::vector<Granted> grants = {};
  std::size_t slots = 0;  // that asked for work
  bool urgent = false;    // one of them idle
  double retry_after = 0;
  double interval = 0;  // until the next heartbeat; 0: nothing is said of it
  double slowest_performance = 0;
  void clear();
};

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
  Opinions opinions;
  std::optional<policy::Audits> audits;  // where results are validated
  policy::VerdictTerms terms;
  RangeSet accepted;  // our own count, where invariants are checked
  bool over = false;
  bool stopped = false;  // its application fails on most hosts: an administrator would have to look at it
  double ended_at = 0;
  [[nodiscard]] const policy::Stage& stage() const { return recorded->view(); }
};

// Its benchmark.
[[nodiscard]] double performance_of(const GridHost& host);

class GridLoop {
 public:
  explicit GridLoop(const GridInstance& instance);
  [[nodiscard]] GridRun run();

 private:
  // A message at the server, a reply at its host, a problem that is added, or, with none of these, a restart.
  // Messages and replies are allocated alone, since a million are under way when all hosts begin and hardly
  // any later; those that have come are used again, for the memory of their lists.
  struct Arrival {
    double time = 0;
    std::int64_t order = 0;  // ties: as sent
    std::unique_ptr<Message> message = {};
    std::unique_ptr<Reply> reply = {};
    std::optional<std::size_t> problem = {};
    bool waited = false;  // the message, for the server
    bool operator>(const Arrival& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  [[nodiscard]] Timestamp stamp() const { return start_ + from_seconds(now_); }
  template <typename Letter>
  [[nodiscard]] static std::unique_ptr<Letter> take_spare(std::vector<std::unique_ptr<Letter>>& spare) {
    if (spare.empty()) return std::make_unique<Letter>();
    std::unique_ptr<Letter> letter = std::move(spare.back());
    spare.pop_back();
    return letter;
  }
  template <typename Letter>
  static void keep_spare(std::unique_ptr<Letter> letter, std::vector<std::unique_ptr<Letter>>& spare) {
    if (spare.size() == spares_max) return;
    letter->clear();
    spare.push_back(std::move(letter));
  }
  static constexpr std::size_t spares_max = 4096;
  void push(Arrival arrival);
  [[nodiscard]] Arrival pop();
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
  void judge(std::size_t problem, const std::vector<Range>& ranges);
  void settle(std::size_t problem, const Opinions::Finding& finding);
  void learn(std::size_t problem, const Opinions::Finding& finding);
  void distrust(HostId host);
  void ask_for(std::size_t problem, const std::vector<policy::Audit>& audits);
  [[nodiscard]] bool audits_rest(std::size_t problem);
  void sum_trust();
  void look_whether_over();
  void add_problem(std::size_t problem);
  void tick();
  void note_changes();
  void check();
  void make_plans();
  void restart();
  [[nodiscard]] policy::RestoreEvent stored_of(std::size_t problem) const;
  void restore_stage(std::size_t problem, const policy::RestoreEvent& stored);
  void put_hosts();
  void put_host(std::size_t host);
  [[nodiscard]] policy::ProblemTerms terms_of(std::size_t problem) const;
  [[nodiscard]] policy::StageSetup setup_of(std::size_t problem) const;

  const GridInstance& instance_;
  Jobs jobs_;
  std::unique_ptr<policy::Dispatch> dispatch_;
  std::vector<SimulatedProblem> problems_;  // as jobs_
  // Units that hosts have, as the server knows; closed ones go when they are next looked at.
  struct Held {
    UnitId unit;
    std::size_t problem = 0;
  };
  std::vector<std::vector<Held>> held_;  // a host
  policy::Blame blame_;
  std::vector<Timestamp> blocked_until_;  // hosts that fail with everything; empty: nothing failed yet
  double total_work_ = 0;
  Random random_;
  std::vector<LocalHost> hosts_;
  Agenda agenda_;
  std::vector<Arrival> arrivals_;  // a heap, the first in front
  Timestamp start_{std::chrono::hours{24 * 365 * 56}};
  double now_ = 0;
  double server_free_at_ = 0;
  double accepted_work_ = 0;
  std::int64_t order_ = 0, next_unit_ = 1, received_ = 0;
  double sample_at_ = 0, ticks_at_ = 0;
  bool liars_ = false;      // opinions are kept
  bool validates_ = false;  // and hosts known by them
  policy::Reputation reputation_;
  Random draws_;
  struct Known {
    std::int64_t delivered = 0;  // items
    std::int64_t accepted = 0, failures = 0;
    double lied_at = -1, found_at = -1;
  };
  std::vector<Known> known_;  // a host
  bool over_ = false;
  // Kept for their memory.
  std::vector<std::unique_ptr<Message>> spare_messages_;
  std::vector<std::unique_ptr<Reply>> spare_replies_;
  policy::Changes changes_, changed_;  // by one event; by one message, where that is checked
  policy::WorkDemand demand_;
  std::vector<protocol::SlotRequest> wanted_;
  std::vector<ProblemId> heartbeat_problems_;
  double slowest_performance_ = 0;
  GridRun run_;
};

}  // namespace gleaner::simulator
