#include "server/policy/mapping/remap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

constexpr double drift_most = 0.25;
constexpr double overdue_share = 0.1;

}  // namespace

std::int64_t batch_size(double time_to_first_idle, double seconds_per_task, std::int64_t hosts,
                        std::int64_t queued, const BatchLimits& limits) {
  const std::int64_t least = 2 * hosts;
  const std::int64_t most = std::max(least, limits.most);
  const double affordable = limits.share * std::max(time_to_first_idle, 0.0) / seconds_per_task;
  std::int64_t size = least;
  if (time_to_first_idle > 0) {
    size = affordable < static_cast<double>(most) ? static_cast<std::int64_t>(affordable) : most;
  }
  return std::min(queued, std::clamp(size, least, most));
}

RemapDecision should_remap(const SincePlan& since) {
  if (since.batch_exhausted) return {true, "a host asked and its queue is empty"};
  if (since.work_arrived) return {true, "work arrived"};
  if (since.hosts_changed) return {true, "a host joined or left"};
  if (since.hosts > 0 && 2 * since.completions >= since.hosts) {
    return {true, fmt::format("{} tasks returned on {} hosts", since.completions, since.hosts)};
  }
  if (since.estimate_then > 0 && since.estimate_now > 0) {
    const double drift = std::abs(since.estimate_now / since.estimate_then - 1);
    if (drift > drift_most) return {true, fmt::format("estimates are off by {:.0f} %", 100 * drift)};
  }
  return {false, "nothing that matters has changed"};
}

RemapDecision should_replace(double makespan_now, double makespan_planned, double hysteresis) {
  const double gain = makespan_now > 0 ? 1 - makespan_planned / makespan_now : 0;
  if (makespan_planned < makespan_now * (1 - hysteresis)) {
    return {true, fmt::format("the new plan is {:.1f} % shorter", 100 * gain)};
  }
  return {false, fmt::format("the new plan gains {:.1f} %, which is not worth it", 100 * gain)};
}

double start_time(double running_estimate, double running_since, double queued_seconds) {
  if (!(running_estimate > 0)) return queued_seconds;
  return std::max(overdue_share * running_estimate, running_estimate - running_since) + queued_seconds;
}

bool is_overdue(double running_estimate, double running_since, double factor) {
  return running_estimate > 0 && running_since > factor * running_estimate;
}

}  // namespace gleaner::policy
