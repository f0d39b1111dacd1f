#include "client/policy/work_pacing.h"

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/protocol/pacing.h"

namespace gleaner::client_policy {

// A project without work is asked less and less often: this computer is at rest. Where there is work that
// others hold, the server says when to come back, and that is soon.
double WorkPacing::wait_seconds(const WorkOutcome& outcome) {
  const double named = outcome.retry_after_seconds;
  const bool empty = outcome.granted == 0 && !outcome.orders && named >= protocol::rest_min;
  empty_replies_ = empty ? empty_replies_ + 1 : 0;
  double wait = named;
  if (empty && named < protocol::rest_max)
    wait = std::min(named * std::pow(protocol::rest_growth, empty_replies_ - 1), protocol::rest_max);
  return std::clamp(wait, 0.0, static_cast<double>(limits::retry_after_seconds_max));
}

void WorkPacing::answered(const WorkOutcome& outcome, SteadyTime now, Random& random) {
  if (outcome.granted >= outcome.asked) {
    refused_ = false;
    empty_replies_ = 0;
    return unnamed_.succeeded();
  }
  refused_ = outcome.granted == 0 && (outcome.urgent || refused_);
  const double seconds = wait_seconds(outcome);
  // A server that names no time is asked as seldom as one that fails.
  const Duration wait = seconds > 0 ? spread(random, from_seconds(seconds))
                                    : std::max<Duration>(std::chrono::seconds{1}, unnamed_.failed(random));
  busy_at_ = now + std::max(wait, std::min(waits_per_exchange * outcome.took, slow_wait_max));
  idle_at_ = outcome.urgent ? busy_at_ : std::min(busy_at_, now + idle_retry);
}

void WorkPacing::forget(SteadyTime now) {
  idle_at_ = busy_at_ = now;
  empty_replies_ = 0;
}

}  // namespace gleaner::client_policy
