// When a server plans again, how many tasks it plans at once, and whether it takes the new plan. Only tasks
// that are queued and not begun are ever mapped again. Source: Page 2009, sections 3.2 and 4.1, with the
// rules of server/policy/mapping/MAPPING.md where the thesis gives the idea only. Pure; seconds.
#pragma once

#include <cstdint>
#include <string>

namespace gleaner::policy {

struct BatchLimits {
  double share = 0.5;  // of the time to the first idle host that planning may take (rho)
  std::int64_t most = 500;
};
// H = clamp(floor(share * time_to_first_idle / seconds_per_task), 2 * hosts, most), at most `queued`.
// Grows with the time to the first idle host, and at least two tasks a host are planned if there are as many.
// seconds_per_task: what planning a task has cost lately; 0 unknown.
[[nodiscard]] std::int64_t batch_size(double time_to_first_idle, double seconds_per_task, std::int64_t hosts,
                                      std::int64_t queued, const BatchLimits& limits = {});

// What happened since the last plan.
struct SincePlan {
  bool batch_exhausted = false;  // a host asked, its queue is empty and there are tasks not mapped
  bool work_arrived = false;     // a stage or a problem
  bool hosts_changed = false;    // one joined, left, or was found dead
  std::int64_t completions = 0;  // tasks returned
  std::int64_t hosts = 0;        // now
  double estimate_then = 0;      // smoothed work of a task at the last plan; 0 unknown
  double estimate_now = 0;
};
struct RemapDecision {
  bool remap = false;
  std::string reason;
};
// Any of: the batch is exhausted, work arrived, hosts changed, half as many completions as hosts, estimates
// off by a quarter.
[[nodiscard]] RemapDecision should_remap(const SincePlan& since);

// The new plan is taken only if it is shorter by more than `hysteresis`.
[[nodiscard]] RemapDecision should_replace(double makespan_now, double makespan_planned,
                                           double hysteresis = 0.01);

// ST(j): what is left of the running task, and what is queued and stays. An overdue task counts as a tenth of
// its estimate still to come. (As printed, (4.6) leaves out communication and what has run already.)
[[nodiscard]] double start_time(double running_estimate, double running_since, double queued_seconds);
// The running task should have been back long ago (factor 3): worth a second copy elsewhere.
[[nodiscard]] bool is_overdue(double running_estimate, double running_since, double factor = 3);

}  // namespace gleaner::policy
