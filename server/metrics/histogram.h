// How often a measured value was at most each of some bounds: what Prometheus makes quantiles of. A value
// type of some hundred bytes, whatever is observed; one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gleaner::metrics {

class Histogram {
 public:
  // REQUIRES: `bounds` ascend strictly.
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void observe(double value) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    ++count_;
    sum_ += value;
  }
  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }
  // Of the values above the bound before and at most this one; the last: above all bounds.
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  double sum_ = 0;
};

// Seconds from a tenth of a millisecond to ten, about three bounds a decade.
[[nodiscard]] inline std::vector<double> bounds_of_seconds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

}  // namespace gleaner::metrics
