// Means over seeds with their uncertainty. Pure.
#pragma once

#include <vector>

namespace gleaner::simulator {

struct Mean {
  double mean = 0;
  double half = 0;  // of the 95 % confidence interval (Student's t); 0 with one value
};

// REQUIRES: not empty.
[[nodiscard]] Mean mean_of(const std::vector<double>& values);

// The quantile .975 of Student's t with that many degrees of freedom (>= 1).
[[nodiscard]] double student_t(int degrees);

}  // namespace gleaner::simulator
