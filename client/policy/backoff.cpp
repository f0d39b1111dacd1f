#include "client/policy/backoff.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/protocol/pacing.h"

namespace gleaner::client_policy {
namespace {
constexpr int doublings_max = 40;  // beyond, the bound has long been reached
}

Duration Backoff::failed(Random& random, std::optional<Duration> retry_after) {
  const int doublings = std::min(failures_, doublings_max);
  if (failures_ < doublings_max) ++failures_;
  Duration ceiling = limits_.first;
  for (int i = 0; i < doublings && ceiling < limits_.most; ++i) ceiling *= 2;
  ceiling = std::clamp(ceiling, limits_.least, std::max(limits_.least, limits_.most));
  Duration wait{random.between(limits_.least.count(), ceiling.count())};
  if (retry_after && *retry_after > Duration{0}) {
    const Duration asked =
        std::min<Duration>(*retry_after, std::chrono::seconds{limits::retry_after_seconds_max});
    const Duration jitter = asked / 10 + std::chrono::milliseconds{250};
    wait = std::max(wait, asked + Duration{random.between(0, jitter.count())});
  }
  return wait;
}

Duration spread(Random& random, Duration wait) {
  if (wait <= Duration{0}) return Duration{0};
  const auto most = static_cast<std::int64_t>(protocol::wait_spread * static_cast<double>(wait.count()));
  return wait + Duration{random.between(0, most)};
}

}  // namespace gleaner::client_policy
