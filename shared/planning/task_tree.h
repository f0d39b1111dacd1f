// A tree of relays that passes equal tasks down and results up, and the best rate it can reach. Pure.
// Source: C. Banino-Rokkones, O. Beaumont, L. Natvig, "Master-Slave Tasking on Asymmetric Networks", sections
// 3 and 4: every node computes one task, sends one message and receives one message at a time, all three at
// once; messages are stored and forwarded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::planning {

struct TaskNode {
  double compute = 1;      // seconds a task takes its CPU (w); above 0
  double task_down = 0;    // seconds a task takes from its parent (c); 0 for the root
  double result_up = 0;    // seconds a result takes to its parent (c'); 0 for the root
  std::size_t parent = 0;  // before the node itself; the root is node 0
};

struct TaskTree {
  std::vector<TaskNode> nodes;
  [[nodiscard]] std::vector<std::vector<std::size_t>> children() const;
};

// The linear program of section 4: maximise the tasks computed per second within the ports' and CPUs' time;
// of all solutions the compact one, which sends least.
struct Throughput {
  double rate = 0;             // tasks per second of the whole tree
  std::vector<double> own;     // of each node's CPU (alpha)
  std::vector<double> passed;  // over each node's link (beta); 0 for the root
};
// REQUIRES: every node's parent comes before it, numbers as above. Errors: internal from the solver.
[[nodiscard]] Result<Throughput> best_throughput(const TaskTree& tree);

// Round robin in bunches (proposition 1): of every `period` seconds' tasks each node computes `own` and its
// subtree gets `bunch`. The period is that of section 7: 10^(|x|+1) for x = floor(log10(max own rate)) up to
// 0, else 10^x; own is rounded to the nearest.
struct RoundRobinPeriod {
  double seconds = 1;
  std::vector<std::int64_t> own, bunch;
};
[[nodiscard]] RoundRobinPeriod round_robin_period(const TaskTree& tree, const Throughput& best);

}  // namespace gleaner::planning
