#include "server/policy/host_health.h"

#include <algorithm>

namespace gleaner::policy {
namespace {

constexpr double first_hold_seconds = 30;
constexpr double longest_hold_seconds = 6 * 3600;
constexpr int doublings_max = 20;  // far beyond the longest hold; keeps the power finite
constexpr std::size_t reason_length_max = 400;

}  // namespace

HostHealth after_failure(HostHealth health, const std::string& reason, Timestamp now) {
  const int doublings = std::min(health.failures_in_row, doublings_max);
  const double seconds =
      std::min(longest_hold_seconds, first_hold_seconds * static_cast<double>(1 << doublings));
  health.failures_in_row = std::min(health.failures_in_row + 1, doublings_max + 1);
  ++health.failures;
  health.blocked_until = now + from_seconds(seconds);
  health.reason = reason.substr(0, reason_length_max);
  return health;
}

HostHealth after_success(HostHealth health) {
  health.failures_in_row = 0;
  health.blocked_until = {};
  health.reason.clear();
  return health;
}

std::optional<double> blocked_for(const HostHealth& health, Timestamp now) {
  // One that ends later than any hold can is of a calendar that was wrong.
  if (health.blocked_until <= now || health.blocked_until > now + from_seconds(longest_hold_seconds))
    return std::nullopt;
  return to_seconds(health.blocked_until - now);
}

}  // namespace gleaner::policy
