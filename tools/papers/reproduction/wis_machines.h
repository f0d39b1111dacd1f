// The machines and scenes of Qureshi and Hatanaka's experiments, as server/policy/sizing/SIZING.md
// ("Published machines") reads them from Table 4; all runs of the experiment on them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/papers/paper.h"

namespace gleaner::simulator {

// [strategy][number of machines][scene], in the order of wis_published.h.
template <typename Value>
using WisCells = std::array<std::array<std::array<Value, 4>, 5>, 4>;

struct WisExperiment {
  WisCells<double> speedup{};   // (13), means over the seeds
  WisCells<double> requests{};  // copies included
  WisCells<double> idle{};      // (15), of all workers together, s
};

struct WisSettings {
  std::vector<std::uint64_t> load_seeds = {11, 12, 13, 14};
  // Of the benchmarks' errors and the scenes' noise. Which draw the paper's machines were is not known: means
  // over these.
  std::vector<std::uint64_t> machine_seeds = {1, 2, 3, 4, 5, 6, 7, 8};
  bool foreign_load = true;
  bool benchmark_errors = true;
};
// Without either: what the request counts of Table 3 are compared on.
[[nodiscard]] WisSettings undisturbed();

// One run's instance. REQUIRES: machines 1..20, scene 0..3.
[[nodiscard]] PaperInstance wis_instance(const std::string& strategy, int machines, int scene,
                                         std::uint64_t load_seed, std::uint64_t machine_seed,
                                         const WisSettings& settings);

// All 80 cells. Errors: invalid.
[[nodiscard]] Result<WisExperiment> run_wis_experiment(const WisSettings& settings,
                                                       const std::function<void(double)>& progress);

// The sum of a scene's costs: seconds on the fastest machine alone.
[[nodiscard]] double wis_scene_seconds(int scene);

}  // namespace gleaner::simulator
