// The parameters of a travelling-salesman problem, and what follows from them and the matrix.
#pragma once

#include <cstdint>
#include <memory>

#include "apps/kit/kernel.h"
#include "apps/kit/problem.h"
#include "apps/tsp/branch.h"
#include "apps/tsp/exhaustive.h"

namespace gleaner::tsp {

enum class Mode { exhaustive, branch_and_bound };

struct Settings {
  Mode mode = Mode::exhaustive;
  bool half = false;               // of a symmetric matrix, each tour in one direction only
  std::int64_t random_cities = 0;  // 0: the input `cities` has them
  std::uint64_t seed = 1;
};

inline constexpr int exhaustive_cities_max = 20;

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

// How many cities after city 0 an item's beginning has.
[[nodiscard]] int prefix_depth(const Settings& settings, int cities);

// The bytes of an item, as kernels make them. REQUIRES: 0 <= item < count_prefixes().
[[nodiscard]] Outcome compute_item(const Settings& settings, const Matrix& matrix, const Bounds& bounds,
                                   std::int64_t item, kit::ItemContext& context);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::tsp
