// Machines as Qureshi and Hatanaka's experiments had them: a master that serves one request at a time,
// latency, a cost of every request on the worker, and foreign jobs on the workers
// (server/policy/sizing/SIZING.md, "Published machines"). Times in seconds; CPU seconds are those of a worker
// of speed 1 without foreign jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/random.h"

namespace gleaner::simulator {

struct MachineModel {
  double first_request = 0;     // when every worker asks first
  double service = 0;           // of the master, for one request
  double service_per_item = 0;  // and for each item returned with it
  double latency = 0;           // from the master to the worker
  double request_cost = 0;      // CPU seconds, on the worker, before the first item of each sub-task
  double busy_share = 0;        // of the time, there is one foreign job on a worker; 0: never
  double busy_seconds = 20;     // mean length of its stay
  std::uint64_t seed = 1;       // of the foreign load
};

// The foreign jobs of one worker: alternating busy and free intervals, exponential; while busy, CPU time
// passes at half the pace. Questions must not go back in time.
class ForeignLoad {
 public:
  ForeignLoad(const MachineModel& model, std::uint64_t worker);
  // Foreign jobs at that time.
  [[nodiscard]] int jobs(double time);
  // When `cpu_seconds` that begin at `start` are over.
  [[nodiscard]] double finish(double start, double cpu_seconds);

 private:
  void forward(double time);

  Random random_;
  double busy_mean_;
  double free_mean_;  // 0: never busy
  bool busy_ = false;
  double until_;
};

}  // namespace gleaner::simulator
