// The smoothed average (2.7): Gamma <- Gamma + nu * (a - Gamma), starting with the first value. Value type.
#pragma once

#include <cmath>
#include <optional>

namespace gleaner::policy {

class SmoothedAverage {
 public:
  // nu in [0, 1]: 0 keeps the first value, 1 the last.
  explicit SmoothedAverage(double nu) : nu_(nu) {}
  // What is not a number is dropped.
  void add(double value) {
    if (!std::isfinite(value)) return;
    value_ = value_ ? *value_ + nu_ * (value - *value_) : value;
  }
  [[nodiscard]] const std::optional<double>& value() const { return value_; }

 private:
  double nu_;
  std::optional<double> value_;
};

inline constexpr double smoothing_of_hosts = 0.2;     // nu of rates, bandwidths, latencies
inline constexpr double smoothing_of_problems = 0.1;  // nu of the work of a task, of errors

}  // namespace gleaner::policy
