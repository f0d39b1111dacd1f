// Instances in TSPLIB's format (Reinelt 1995): TYPE TSP or ATSP; EUC_2D, CEIL_2D, MAN_2D, MAX_2D, GEO, ATT,
// or EXPLICIT in any of the matrix formats. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/tsp/matrix.h"
#include "shared/base/result.h"

namespace gleaner::tsp {

struct Instance {
  std::string name = "tour";
  Matrix matrix;
  std::vector<std::pair<double, double>> places;  // to draw; empty if the file has none
};

// invalid with the line's number, or what is missing.
[[nodiscard]] Result<Instance> read_tsplib(std::string_view text);

// Cities at random in a square of side 10,000, EUC_2D distances. REQUIRES: 1 <= cities <= cities_max.
[[nodiscard]] Instance random_instance(int cities, std::uint64_t seed);

// The tour as a TSPLIB file; cities count from 1 there.
[[nodiscard]] std::string write_tour(const std::string& name, const std::vector<int>& tour,
                                     std::int64_t length);

}  // namespace gleaner::tsp
