// A bucket of tokens that fills evenly, kept as the time when it will be full (the virtual scheduling of
// ITU-T I.371). Tokens are counted by the time in which they come. Not thread-safe.
#pragma once

#include <algorithm>

#include "shared/base/clock.h"

namespace gleaner::service {

class Bucket {
 public:
  // What it lacks; more than it can hold if somebody was let take more than was there.
  [[nodiscard]] Duration missing(SteadyTime now) const { return std::max(full_at_ - now, Duration{0}); }
  void take(Duration worth, SteadyTime now) { full_at_ = std::max(full_at_, now) + worth; }
  void give_back(Duration worth) { full_at_ -= worth; }

 private:
  SteadyTime full_at_{};
};

}  // namespace gleaner::service
