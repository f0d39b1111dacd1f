// Local time as preferences mean it, ahead of now: the minute of the week, and the changes of the clock that
// the zone has in the next days (daylight saving). Pure. Cost: O(changes).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

inline constexpr int minutes_per_week = 7 * 24 * 60;

struct ClockShift {
  int after = 0;    // minutes from now
  int minutes = 0;  // that clocks are put forward then; negative: back
};

struct LocalTime {
  int minute_of_week = 0;               // from Monday 00:00
  std::vector<ClockShift> shifts = {};  // in order
  int second = 0;                       // of that minute
  // So many minutes from now.
  [[nodiscard]] int ahead(int minutes) const {
    int local = minute_of_week + minutes;
    for (const ClockShift& shift : shifts)
      if (shift.after <= minutes) local += shift.minutes;
    const int within = local % minutes_per_week;
    return within < 0 ? within + minutes_per_week : within;
  }
};

// How long ago something was used whose time is `used`, by a clock that says `now`; nothing if that lies in
// the future by more than clocks are corrected all the time: then the clock was wrong, and nothing is known.
[[nodiscard]] inline std::optional<Duration> age_of(Timestamp used, Timestamp now) {
  constexpr Duration tolerance = std::chrono::seconds{10};
  if (used > now + tolerance) return std::nullopt;
  return std::max(Duration{0}, now - used);
}

}  // namespace gleaner::client_policy
