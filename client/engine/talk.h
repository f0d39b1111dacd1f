// How much a kernel may say that is no result: log and progress lines and standard error are read, looked at
// and thrown away, which takes the owner's processor time and not the kernel's. Pure: the count is an
// argument. Not thread-safe.
#pragma once

#include <string>

#include "shared/base/clock.h"

namespace gleaner::engine {

class Talk {
 public:
  static constexpr std::int64_t bytes_per_second_max = 64 << 10;
  static constexpr std::int64_t bytes_at_once_max = 4 << 20;  // a stack of warnings, a dump

  // A kernel process begins.
  void start(SteadyTime now) { *this = Talk{now}; }
  // `bytes`: all that it has said so far. What is wrong, in words; empty: nothing.
  [[nodiscard]] std::string excess(std::int64_t bytes, SteadyTime now);

  Talk() = default;

 private:
  explicit Talk(SteadyTime now) : at_(now) {}

  SteadyTime at_{};
  std::int64_t bytes_ = 0;  // counted so far
  double too_many_ = 0;     // beyond bytes_per_second_max
};

}  // namespace gleaner::engine
