// The k-nearest-neighbours estimate with L-smoothing: what a task will take, from what the most similar ones
// took. Source: Page 2009, algorithm 2.1 and (2.1)-(2.6).
//
// Corrected: the printed weights (2.5) are not normalised, so that the printed sum (2.6) is about (k - 2m)^2
// times too large and an exact match has the least weight. nearest_neighbours() is the corrected form;
// printed_estimate() the printed one, for the report only. Pure, O(n q + n log n).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "server/policy/estimation/observation.h"

namespace gleaner::policy {

enum class NeighbourRule : int { four_fifths = 0, square_root = 1 };  // k = ceil(n^0.8) or ceil(n^0.5)
enum class ParameterScale : int { linear = 0, logarithmic = 1 };

struct NeighbourSettings {
  double smoothing = 0.1;  // L: the share of the neighbours left out at each end, in [0, 0.5)
  NeighbourRule rule = NeighbourRule::four_fifths;
  bool scaled = true;                           // parameters by their spread (the thesis: not)
  std::vector<ParameterScale> parameters = {};  // one a number; missing: linear
};

enum class Quality : int { unknown = 0, low = 1, medium = 2, high = 3 };

// One thing seen: parameters and the value to be predicted (seconds, or a relative error).
struct Sample {
  const TaskParameters* parameters = nullptr;
  double value = 0;
  std::int64_t number = 0;  // newer is larger: the first of equally near ones
};

struct NeighbourEstimate {
  double value = 0;
  Quality quality = Quality::unknown;  // low: no sample has the same codes
};

// k for n samples; n^0.8 less rounding before it is rounded up, so that 100 gives 40.
[[nodiscard]] std::size_t neighbour_count(std::size_t samples, NeighbourRule rule);

// Nothing without samples. The answer lies between the least and the largest value kept.
[[nodiscard]] std::optional<NeighbourEstimate> nearest_neighbours(std::span<const Sample> samples,
                                                                  const TaskParameters& wanted,
                                                                  const NeighbourSettings& settings = {});

// (2.3)-(2.6) as printed: unscaled distances, w = sum of distances over distance, 1 for an exact match, sum
// of t * w; k is given. Nothing if y = k - 2 * floor(L * k) is 0.
[[nodiscard]] std::optional<double> printed_estimate(std::span<const Sample> samples,
                                                     const TaskParameters& wanted, double smoothing,
                                                     std::size_t k);

}  // namespace gleaner::policy
