// Notices when the calendar moves relative to the steady clock: this computer slept, or its clock was set.
// Pure. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

class CalendarWatch {
 public:
  struct Leap {
    Duration by;
    SteadyTime at;
  };
  // The leap since the last call, if there was one. Call start() once, first.
  void start(Timestamp calendar, SteadyTime now) {
    calendar_ = calendar;
    at_ = now;
  }
  [[nodiscard]] std::optional<Leap> look(Timestamp calendar, SteadyTime now) {
    const Duration drift = (calendar - calendar_) - (now - at_);
    start(calendar, now);
    if (drift < tolerance && drift > -tolerance) return std::nullopt;
    last_ = Leap{drift, now};
    return last_;
  }
  [[nodiscard]] const std::optional<Leap>& last() const { return last_; }

  static constexpr Duration tolerance = std::chrono::seconds{30};  // clocks are corrected all the time

 private:
  Timestamp calendar_;
  SteadyTime at_{};
  std::optional<Leap> last_;
};

}  // namespace gleaner::client_policy
