// Whether the calendar may be believed when something is to be deleted for good: it has gone with the steady
// clock for long enough. A clock that is set wrong for minutes, or that was wrong when this program started,
// deletes nothing. Pure; not thread-safe. Cost: O(1).
#pragma once

#include <chrono>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::policy {

class Calendar {
 public:
  // Both clocks at one moment: once a second or so.
  void look(Timestamp now, SteadyTime steady);
  // How long the two have gone together, since the first look or the last jump.
  [[nodiscard]] Duration agreed() const { return agreed_; }

 private:
  std::optional<Duration> offset_;  // of the calendar from the steady clock, as of the last look
  SteadyTime since_;
  Duration agreed_{};
};

// May something go that is over, or untouched, for `age`? The calendar was believed for as long, a day at
// most: whoever looks after the server has noticed a wrong date by then.
[[nodiscard]] bool may_expire(Duration agreed, Duration age);

}  // namespace gleaner::policy
