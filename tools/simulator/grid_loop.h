// The loop of a simulated grid: what is due next, messages under way, and the two ends of the wire. Internal.
//   grid_loop.cpp    what happens when, and the sums at the end
//   grid_client.cpp  the clients' side: asking, delivering, obeying
//   grid_server.cpp  the server's side: the live server's dispatch, which decides
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "server/policy/dispatch/dispatch.h"
#include "server/policy/stage/stage.h"
#include "shared/base/random.h"
#include "tools/simulator/agenda.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/grid_host.h"
#include "tools/simulator/opinions.h"

namespace gleaner::simulator {

struct Reply {
  std::size_t host = 0;
  std::vector<protocol::UnitOrder> orders;
  std::optional<int> slot;
  bool urgent = true;
  UnitId unit;  // granted; none: nothing
  std::size_t problem = 0;
  Range range;
  policy::UnitKind kind = policy::UnitKind::fresh;
  double begun_share = 0;  // of the first item: it goes on from there
  double retry_after = 0;
  double interval = 60;
};

// The server's side of one problem.
struct SimulatedProblem {
  policy::RecordedStage* recorded = nullptr;  // the dispatcher's; null: it was not added yet
  Opinions opinions;
  RangeSet accepted;  // our own count, where invariants are checked
  bool over = false;
  double ended_at = 0;
  [[nodiscard]] const policy::Stage& stage() const { return recorded->view(); }
};

class GridLoop {
 public:
  explicit GridLoop(const GridInstance& instance);
  [[nodiscard]] GridRun run();

 private:
  // A message at the server, a reply at its host, a problem that is added, or, with none of these, a restart.
  // Each is allocated alone: a million are under way when all hosts begin, and hardly any later.
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
  void push(Arrival arrival);
  [[nodiscard]] Arrival pop();
  void arrive(Arrival arrival);
  void host_due(std::size_t id);
  void finish();
  void sample();

  // Client
  void trace_event(std::size_t id);
  void wake(std::size_t id);
  void send(Message message);
  void beat(std::size_t id);
  void ask(std::size_t id, std::size_t slot, bool urgent, std::vector<Commit> commits = {},
           std::optional<Commit> failure = {});
  void slot_end(std::size_t id, std::size_t index);
  void predict(std::size_t id, std::size_t index);
  void at_client(const Reply& reply);
  void take(std::size_t id, std::size_t slot, const Reply& reply);
  void drop(std::size_t id, std::size_t slot, std::size_t place);
  void obey(std::size_t id, const protocol::UnitOrder& order);

  // Server
  void at_server(const Message& message);
  void commit(HostId host, const Commit& commit, policy::Changes& changes);
  void request(const Message& message, Reply& reply, policy::Changes& changes);
  void grant(const policy::SlotGrant& granted, Reply& reply);
  void judge(SimulatedProblem& problem, const std::vector<Range>& ranges);
  void look_whether_over();
  void add_problem(std::size_t problem);
  void tick();
  void make_plans();
  void restart();
  void put_hosts();
  [[nodiscard]] policy::ProblemTerms terms_of(std::size_t problem) const;
  [[nodiscard]] policy::StageSetup setup_of(std::size_t problem) const;

  const GridInstance& instance_;
  Jobs jobs_;
  std::unique_ptr<policy::Dispatch> dispatch_;
  std::vector<SimulatedProblem> problems_;  // as jobs_
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
  bool liars_ = false;
  bool over_ = false;
  policy::WorkDemand demand_;  // kept for its memory
  GridRun run_;
};

}  // namespace gleaner::simulator
