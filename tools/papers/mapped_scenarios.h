// The grids of Page's thesis for run_mapped(), as server/policy/mapping/MAPPING.md reads them. What the
// thesis leaves open (link spread, task sizes of a problem, which problems are staged) is a guess and stated
// here. Deterministic by seed.
#pragma once

#include "tools/papers/mapped.h"

namespace gleaner::simulator {

enum class Sizes : int { normal_1000, uniform_10_10000, uniform_10_100, poisson_10, poisson_100 };

// Section 3.3 of the thesis: 50 hosts of 30 to 150 MFLOP/s, 1000 tasks in batches of 200, no polling and no
// remapping; links of mean 1 and deviation a half; communication over computation in the mean: `ratio`.
[[nodiscard]] MappedGrid batch_grid(Sizes sizes, double ratio, std::uint64_t seed);

struct PublishedProblem {
  const char* name;
  double communication;  // seconds a task
  double computation;
  double ratio;  // as printed
  int tasks;
};
[[nodiscard]] const std::vector<PublishedProblem>& thesis_problems();  // Table 2.1

// Section 4.3 of the thesis: 45 hosts of 28 to 31 and 45 of 180 to 200 MFLOP/s; a quarter of the tasks of
// Table 2.1 in mixed order, SLTT and TSP in four stages each; sizes lognormal (0.3) around the mean at 110
// MFLOP/s; estimates off by 0.5 / sqrt(1 + observations) in the logarithm; polling every minute; remapping.
[[nodiscard]] MappedGrid staged_grid(std::uint64_t seed);
// The same on so many slow and fast hosts.
[[nodiscard]] MappedGrid staged_grid(int slow, int fast, std::uint64_t seed);
// The same problems on 90 hosts of rates between low and high.
[[nodiscard]] MappedGrid even_grid(double low, double high, std::uint64_t seed);

}  // namespace gleaner::simulator
