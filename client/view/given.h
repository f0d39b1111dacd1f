// What this computer has given, in the measure that means the same for every application.
#pragma once

#include <cstdint>
#include <string>

namespace gleaner::view {

// Core-seconds that its kernels ran; days are UTC's.
struct Given {
  std::int64_t today = 0;
  std::int64_t week = 0;  // the last seven days, today included
  std::int64_t year = 0;  // as far as days are kept
  friend bool operator==(const Given&, const Given&) = default;
};

// "12 min of a core today, 3.1 core-hours in the last 7 days, 310 core-hours in the last year"
[[nodiscard]] std::string text_of(const Given& given);

}  // namespace gleaner::view
