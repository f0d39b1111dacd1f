#include "client/policy/session_pacing.h"

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::client_policy {
namespace {
constexpr double interval_min = 1;  // seconds; a server that says less is wrong
}

Exchange SessionPacing::due(const Outgoing& outgoing, SteadyTime now) const {
  if (now < silent_until_) return Exchange::none;
  if (outgoing.move) return Exchange::move;
  if (outgoing.project) return Exchange::project;
  if (outgoing.failure) return Exchange::failure;
  if (outgoing.work && now >= work_.idle_at()) return Exchange::work;
  if (outgoing.units && now >= heartbeat_at_) return Exchange::heartbeat;
  if (outgoing.commit) return Exchange::commit;
  return Exchange::none;
}

SteadyTime SessionPacing::next(const Outgoing& outgoing, SteadyTime now) const {
  if (now < silent_until_) return silent_until_;
  SteadyTime next = SteadyTime::max();
  const auto at = [&](SteadyTime time) {
    if (time > now) next = std::min(next, time);
  };
  if (outgoing.units) at(heartbeat_at_);
  at(work_.idle_at());
  at(work_.busy_at());
  return next;
}

void SessionPacing::succeeded(std::optional<Duration> retry_after, SteadyTime now, Random& random) {
  backoff_.succeeded();
  if (retry_after) silent_until_ = now + spread(random, *retry_after);
}

void SessionPacing::failed(std::optional<Duration> retry_after, SteadyTime now, Random& random) {
  silent_until_ = now + backoff_.failed(random, retry_after);
}

void SessionPacing::heartbeat_in(double seconds, SteadyTime now) {
  heartbeat_at_ = now + from_seconds(std::clamp(seconds, interval_min,
                                                static_cast<double>(limits::retry_after_seconds_max)));
}

void SessionPacing::forget_waits(SteadyTime now) {
  silent_until_ = heartbeat_at_ = now;
  work_.forget(now);
  backoff_.succeeded();
}

}  // namespace gleaner::client_policy
