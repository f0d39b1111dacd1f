// How busy a host's processors were in the last 24 hours, hour by hour, from what it reported. Of the present
// hour the mean so far. In memory only: a restarted server begins anew. Pure. Cost: O(1) a report, 40 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::service {

class HostDay {
 public:
  static constexpr int hours = 24;

  // A report: the part of its processor time in use, 0 to 1. After the clock was set back it begins anew.
  void add(Timestamp now, double cpu);
  // Percent, oldest first; `unknown`: nothing was reported in that hour. Empty: in none of them.
  [[nodiscard]] std::vector<int> percents(Timestamp now) const;

  static constexpr int unknown = -1;

 private:
  void turn_to(std::int64_t hour);

  std::array<std::int8_t, hours> mean_{};  // of hour h at h % hours; valid up to `hours` before newest_
  std::int64_t newest_ = -1;               // hours since 1970; -1: none yet
  float sum_ = 0;                          // of the newest hour's reports
  std::int32_t reports_ = 0;
};

}  // namespace gleaner::service
