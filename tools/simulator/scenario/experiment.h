// Runs a scenario under several strategies and seeds, one run a core at a time, and sums up. A run is
// single-threaded and depends on scenario, variant and seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/simulator/scenario/scenario.h"

namespace gleaner::simulator {

struct Variant {
  std::string strategy;
  std::string straggler;
};

// What plots and per-host tables need.
struct Detail {
  GridRun run;
  std::vector<GridHost> hosts;  // without their events
};

struct ProblemOutcome {
  std::int64_t items = 0;
  bool complete = false;
  double ended_at = 0, fair_end = 0;  // grid.h
};

// One run in figures. Ratios are to the fluid bound.
struct Outcome {
  std::size_t variant = 0;
  std::uint64_t seed = 0;
  bool complete = false;
  double makespan = 0, ideal = 0;
  double ratio = 0, t95 = 0;
  double speedup = 0;         // over one slot of unit speed that is never disturbed
  double efficiency = 0;      // of what all hosts delivered until the end
  double waste = 0;           // kernel time over the useful, minus 1
  double idle_hours = 0;      // of slots that had nothing to do
  double kilowatt_hours = 0;  // of all kernels; 0: nobody knows
  std::int64_t hosts = 0, slots = 0;
  std::int64_t items = 0;
  std::int64_t requests = 0, grants = 0;
  std::int64_t splits = 0, recovered = 0, copies = 0;
  std::int64_t events = 0;
  std::int64_t wrong_items = 0;
  double seconds = 0;                         // of processor time that the loop took
  std::vector<ProblemOutcome> problems = {};  // as the scenario's
  std::shared_ptr<const Detail> detail = {};
};

struct Experiment {
  const Scenario& scenario;
  std::vector<Variant> variants;
  std::uint64_t first_seed = 1, last_seed = 1;
  unsigned threads = 1;
  std::int64_t check_every = -1;  // -1: by the size of the fleet (SCENARIO.md)
  bool detail = false;            // of each variant's first seed
  std::function<void(const std::string&)> log =
      {};  // lines of the decision log; only with one variant and seed
};

// Outcomes by variant, then seed. `done` is called after each run with how many have ended, from any thread
// but never from two at once. Errors: the first run's that could not be made.
[[nodiscard]] Result<std::vector<Outcome>> run_experiment(const Experiment& experiment,
                                                          const std::function<void(std::size_t)>& done = {});

[[nodiscard]] Result<Outcome> run_once(const Experiment& experiment, std::size_t variant, std::uint64_t seed);

// What the calling thread is running, for the message if an invariant breaks: scenario, seed, strategy.
[[nodiscard]] const char* running_text();

}  // namespace gleaner::simulator
