// At which hours of the week computers are switched off, learned from all hosts of a stage: time on, and
// interruptions, by hour of the week (UTC). An hour counts once it is over, so that it tells of the same hour
// in the weeks to come. Value type. Cost: O(1).
#pragma once

#include <array>
#include <cstddef>

#include "shared/base/clock.h"

namespace gleaner::policy {

class HoursOfWeek {
 public:
  static constexpr std::size_t hours = 168;

  void on(Timestamp until, double seconds);
  void interrupted(Timestamp at);
  // How much more likely than in the mean of all known hours an interruption is at that hour; 1 where the
  // hour is not known.
  [[nodiscard]] double factor(Timestamp at) const;

 private:
  struct Hour {
    double seconds = 0, interruptions = 0;
  };
  Hour& present(Timestamp at);

  std::array<Hour, hours> past_{};
  Hour all_;               // of past_
  std::int64_t now_ = -1;  // hours since 1970
  Hour now_so_far_;
};

}  // namespace gleaner::policy
