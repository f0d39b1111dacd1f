// When a project is asked for work again: as its server said, after longer waits while it has nothing at all
// (shared/protocol/pacing.h), and sooner for an idle slot than for a busy one. On a slow line exchanges take
// a twentieth of the time at most; without that limit they took 7 % of 8 kB/s beside a result's upload. Pure:
// randomness and time are arguments. Cost: O(1). Not thread-safe.
#pragma once

#include "client/policy/backoff.h"

namespace gleaner::client_policy {

// What a reply to a work request says of the next one.
struct WorkOutcome {
  std::size_t asked = 0;    // slots; > 0
  std::size_t granted = 0;  // units for them
  bool urgent = false;      // one of the slots was idle
  bool orders = false;      // the reply concerned units in hand, too
  double retry_after_seconds = 0;
  Duration took{0};  // the exchange
};

class WorkPacing {
 public:
  void answered(const WorkOutcome& outcome, SteadyTime now, Random& random);
  // After a suspend or a change of networks: old waits mean nothing.
  void forget(SteadyTime now);

  // `urgent`: for an idle slot.
  [[nodiscard]] bool may_ask(SteadyTime now, bool urgent) const {
    return now >= idle_at_ && (urgent || now >= busy_at_);
  }
  // No slot asks before, and none that still computes; both may have passed.
  [[nodiscard]] SteadyTime idle_at() const { return idle_at_; }
  [[nodiscard]] SteadyTime busy_at() const { return busy_at_; }
  // It had nothing for an idle slot when it was asked last.
  [[nodiscard]] bool refused() const { return refused_; }

  // What slots that compute were refused, one that falls idle may be given: late results were still on their
  // way, or only idle slots get the rest.
  static constexpr Duration idle_retry = std::chrono::milliseconds{250};
  // A wait is at least so many times as long as the exchange was, up to slow_wait_max.
  static constexpr int waits_per_exchange = 20;
  static constexpr Duration slow_wait_max = std::chrono::seconds{10};

 private:
  [[nodiscard]] double wait_seconds(const WorkOutcome& outcome);

  SteadyTime idle_at_{};
  SteadyTime busy_at_{};
  bool refused_ = false;
  int empty_replies_ = 0;  // in a row
  Backoff unnamed_;        // for a server that gives nothing and names no time
};

}  // namespace gleaner::client_policy
