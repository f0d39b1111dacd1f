// A grid under a mapping strategy, in virtual time: the server keeps a queue for each host, plans batches,
// and maps again what is queued and not begun; a host holds one task and polls while there is none for it.
// Source: Page 2009, sections 3.3 and 4.3, as read in server/policy/mapping/MAPPING.md. Deterministic by
// seed; no threads. Seconds and MFLOP. Errors: an unknown strategy.
//
// Strategies, when to map again and whether a plan is better are the live server's (policy/mapping). The
// queues are not those of its mapping group (policy/dispatch), since the published experiments ask for
// another grid: tasks are given one by one, each with a communication time of its own, where the group cuts
// them from the free items of a stage, whose rules would split, copy and recover them; what is known of a
// task is its true length with an error that is drawn and shrinks with the number of observations, where the
// group learns from what units took; and a batch, of a fixed size, is mapped at the instant at which a host
// asks, where the group's plans take time and begin at a request or a tick. A whole grid under the group is
// simulated by grid.h with a mapping strategy.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::simulator {

struct MappedTask {
  int problem = 0;
  int stage = 0;             // may begin when the problem's earlier stages are through
  double work = 0;           // MFLOP
  double communication = 0;  // seconds on a link of 1
};

struct MappedHost {
  double rate = 0;                                          // MFLOP/s
  double link = 1;                                          // factor of communication times
  double joins = 0;                                         // seconds
  double leaves = std::numeric_limits<double>::infinity();  // with the task that is running
};

struct MappedGrid {
  std::vector<MappedTask> tasks;
  std::vector<MappedHost> hosts;
  std::string strategy;
  std::size_t batch = 200;          // most tasks in one plan
  double poll = 60;                 // seconds until a host without work asks again; 0: it is told
  bool remap = true;                // queued tasks, on the triggers of policy/mapping/remap.h
  bool communication_known = true;  // to the strategy, before it has occurred
  double communication_spread = 0;  // actual = expected * uniform(1 - spread, 1 + spread)
  double estimate_deviation = 0;    // of log(estimate / actual) without observations; less with them
  std::uint64_t seed = 1;
};

struct MappedRun {
  double makespan = 0;
  double efficiency = 0;  // (4.1): computation over elapsed time times hosts
  std::int64_t plans = 0;
  std::int64_t replans = 0;  // plans that moved queued tasks
  std::int64_t largest_batch = 0;
  std::vector<std::int64_t> started;                  // how often each task was begun
  std::vector<std::int64_t> accepted;                 // how often each task was returned: 1
  bool finished = false;                              // false: no host was left
  double last_begun = 0;                              // when the last task was begun
  std::vector<std::pair<double, std::int64_t>> idle;  // from then on: hosts that are on and have no task
};

[[nodiscard]] Result<MappedRun> run_mapped(const MappedGrid& grid);

}  // namespace gleaner::simulator
