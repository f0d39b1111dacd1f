// The beginnings of tours that items are: city 0, then `depth` others in lexicographic order. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/tsp/matrix.h"

namespace gleaner::tsp {

// Exact for n <= 20. REQUIRES: 0 <= n <= 20.
[[nodiscard]] std::uint64_t factorial(int n);

// How many beginnings there are: (cities - 1)! / (cities - 1 - depth)!.
[[nodiscard]] std::int64_t count_prefixes(int cities, int depth);

struct Prefix {
  std::vector<int> path;  // city 0 first
  std::vector<int> rest;  // ascending
  std::int64_t length = 0;
};
// REQUIRES: 0 <= index < count_prefixes(matrix.cities(), depth).
[[nodiscard]] Prefix prefix_of(const Matrix& matrix, int depth, std::int64_t index);

}  // namespace gleaner::tsp
