// When a client speaks to a project's server and what it says first: one exchange at a time, the most urgent
// of what there is to say; heartbeats as often as the server asked for, requests for work as work_pacing.h
// says, and nothing while exchanges fail or the server asked for silence. Pure: randomness and time are
// arguments. Cost: O(1). Not thread-safe.
#pragma once

#include <optional>

#include "client/policy/backoff.h"
#include "client/policy/work_pacing.h"

namespace gleaner::client_policy {

// In order of urgency. `move`: to another place of the project; `project`: its document is fetched;
// `failure`: of a unit; `commit`: results, or the units that are held, alone, in a request for work that
// names no slot.
enum class Exchange { none, move, project, failure, work, heartbeat, commit };

// What there is to say now.
struct Outgoing {
  bool project = false;  // its document is not known, or in doubt
  bool failure = false;
  bool work = false;   // slots that want a unit
  bool units = false;  // in hand, for a heartbeat to tell of
  bool commit = false;
  bool move = false;  // the relay is gone for good
};

class SessionPacing {
 public:
  // Which exchange is to be made now. REQUIRES: none is under way.
  [[nodiscard]] Exchange due(const Outgoing& outgoing, SteadyTime now) const;
  // When due() may answer otherwise though nothing new is to be said, later than `now`; max(): never.
  [[nodiscard]] SteadyTime next(const Outgoing& outgoing, SteadyTime now) const;

  // What became of an exchange. `retry_after`: what the server asked for, of any exchange.
  void succeeded(std::optional<Duration> retry_after, SteadyTime now, Random& random);
  void failed(std::optional<Duration> retry_after, SteadyTime now, Random& random);
  void work_answered(const WorkOutcome& outcome, SteadyTime now, Random& random) {
    work_.answered(outcome, now, random);
  }
  void heartbeat_in(double seconds, SteadyTime now);  // as the server said
  void heartbeat_soon(SteadyTime now) { heartbeat_at_ = now; }
  // After a suspend or a change of networks: old waits mean nothing.
  void forget_waits(SteadyTime now);

  [[nodiscard]] bool may_ask(SteadyTime now, bool urgent) const {
    return now >= silent_until_ && work_.may_ask(now, urgent);
  }
  [[nodiscard]] const WorkPacing& work() const { return work_; }
  [[nodiscard]] SteadyTime silent_until() const { return silent_until_; }

 private:
  WorkPacing work_;
  Backoff backoff_;
  SteadyTime silent_until_{};
  SteadyTime heartbeat_at_{};
};

}  // namespace gleaner::client_policy
