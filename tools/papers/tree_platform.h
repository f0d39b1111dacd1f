// The platforms of the tree heuristics' simulations: random trees, and speeds that change while tasks run.
// Everything is its seed. Pure.
// Source: Banino-Rokkones, Beaumont, Natvig, "Master-Slave Tasking on Asymmetric Networks", section 8: 100
// nodes, each below a random earlier one with at most 10 children; c uniform in [1,10], w in [20,200]. What
// the paper leaves open: c' = u/(t/r), u uniform in [1,10] and independent of c; in dynamic platforms each
// CPU and each link (both directions alike) goes through 5 to 15 levels uniform in [.01,1], exponential with
// a mean of the time of 25 tasks at the best static rate, again and again.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/random.h"
#include "shared/planning/task_tree.h"

namespace gleaner::simulator {

// `task_to_result`: how many times larger a task's data is than its result's (t/r).
[[nodiscard]] planning::TaskTree random_task_tree(std::uint64_t seed, double task_to_result);

// The speed of one resource over time, relative to its nominal one; repeats after its last level.
class SpeedCycle {
 public:
  SpeedCycle() = default;  // always 1
  SpeedCycle(Random& random, double mean_seconds);
  [[nodiscard]] double at(double time) const;
  // When work of `seconds` at nominal speed ends that begins at `start`.
  [[nodiscard]] double end_of(double start, double seconds) const;

 private:
  [[nodiscard]] std::size_t level_at(double& time) const;  // leaves the offset into the level
  std::vector<double> lengths_, speeds_;
  double cycle_ = 0, work_ = 0;  // of all levels: seconds, and work done in them
};

// Of every node's CPU, and of its link to its parent.
struct PlatformSpeeds {
  std::vector<SpeedCycle> cpu, link;
};
[[nodiscard]] PlatformSpeeds steady_speeds(std::size_t nodes);
// `best_rate`: tasks per second of the linear program at nominal speeds.
[[nodiscard]] PlatformSpeeds changing_speeds(std::uint64_t seed, std::size_t nodes, double best_rate);
// The platform as it is at one instant.
[[nodiscard]] planning::TaskTree snapshot(const planning::TaskTree& tree, const PlatformSpeeds& speeds,
                                          double time);

}  // namespace gleaner::simulator
