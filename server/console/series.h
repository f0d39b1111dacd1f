// A curve over any length of time in a bounded number of samples: when there are too many, every second one
// goes, and from then on they are taken half as often. Pure value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gleaner::console {

template <typename Sample>
class Series {
 public:
  // REQUIRES: samples_max >= 2.
  explicit Series(std::size_t samples_max) : samples_max_(samples_max) {}

  // Called at even times; keeps it if its turn has come.
  void offer(const Sample& sample) {
    if (offered_++ % every_ != 0) return;
    samples_.push_back(sample);
    if (samples_.size() < samples_max_) return;
    for (std::size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
    samples_.resize((samples_.size() + 1) / 2);
    every_ *= 2;
  }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  std::size_t samples_max_;
  std::uint64_t offered_ = 0;
  std::uint64_t every_ = 1;
  std::vector<Sample> samples_;
};

}  // namespace gleaner::console
