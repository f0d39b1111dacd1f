// The four scenarios of the tree heuristics' paper, over many random trees: static or changing platforms,
// task data 1000 times the result's or as large. Everything is its seeds. Pure. Source: Banino-Rokkones,
// Beaumont, Natvig, section 8. Rates are relative to the linear program's optimum; on changing platforms to
// the mean optimum of 12 snapshots, which is no bound: buffers use links while they are fast.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tools/papers/tree.h"

namespace gleaner::simulator {

struct TreeScenario {
  std::string name;
  bool changing = false;
  double task_to_result = 1;
};
[[nodiscard]] const std::array<TreeScenario, 4>& tree_scenarios();

struct TreeScore {
  double at_half = 0, at_90 = 0, at_end = 0;  // rate by that share of the run, relative to the optimum
};

// One tree, one rule. The tasks are 2500, with round-robin 7500. Errors: of the solver; internal if an
// invariant did not hold, with the seed.
[[nodiscard]] Result<TreeScore> score_tree(const TreeScenario& scenario, const std::string& rule,
                                           std::uint64_t seed);

struct TreeStudy {
  std::vector<TreeScore> scores;  // by tree, from the first seed on
  [[nodiscard]] TreeScore mean() const;
};
// Mean and standard error of a.at_90 - b.at_90 on the same trees.
struct Difference {
  double mean = 0, error = 0;
};
[[nodiscard]] Difference paired(const TreeStudy& a, const TreeStudy& b);

[[nodiscard]] Result<TreeStudy> study_trees(const TreeScenario& scenario, const std::string& rule,
                                            std::uint64_t first_seed, int trees);

}  // namespace gleaner::simulator
