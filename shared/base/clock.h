// Time. Two clocks because they answer different questions: `now` is the calendar (stored, sent, shown; may
// jump), `steady` only measures (never jumps, means nothing elsewhere). Policies take a Timestamp argument
// and never see a Clock. Implementations are thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace gleaner {

using Duration = std::chrono::microseconds;
using Timestamp = std::chrono::sys_time<Duration>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Timestamp now() const = 0;
  [[nodiscard]] virtual SteadyTime steady() const = 0;
};

// The system's clocks.
[[nodiscard]] Clock& system_clock();

// A clock that only moves when told to, and may jump backwards as real calendars do. Not thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Timestamp start = Timestamp{std::chrono::hours{24 * 365 * 56}}) : now_(start) {}
  [[nodiscard]] Timestamp now() const override { return now_; }
  [[nodiscard]] SteadyTime steady() const override { return steady_; }
  void advance(Duration by) {
    now_ += by;
    steady_ += by;
  }
  void jump_calendar(Duration by) { now_ += by; }

 private:
  Timestamp now_;
  SteadyTime steady_{};
};

[[nodiscard]] inline double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
// Rounded to the microsecond, halves away from zero; values beyond +-100 years are clamped; no number is 0.
// Every decision does it several times: inline, and without a call of llround.
[[nodiscard]] inline Duration from_seconds(double seconds) {
  constexpr double limit = 100.0 * 365 * 86400;
  if (seconds != seconds) return Duration{0};
  const double microseconds = std::clamp(seconds, -limit, limit) * 1e6;
  auto whole = static_cast<std::int64_t>(microseconds);
  const double rest = microseconds - static_cast<double>(whole);  // exact: of less than 2^53
  if (rest >= 0.5) ++whole;
  if (rest <= -0.5) --whole;
  return Duration{whole};
}
// RFC 3339 in UTC with milliseconds, for example 2026-11-20T22:04:05.123Z.
[[nodiscard]] std::string to_rfc3339(Timestamp time);
// By this computer's clock and zone, as people write it: 2026-11-20 23:04.
[[nodiscard]] std::string local_text(Timestamp time);
[[nodiscard]] inline std::int64_t to_microseconds(Timestamp time) {
  return time.time_since_epoch().count();
}
[[nodiscard]] inline Timestamp from_microseconds(std::int64_t us) {
  return Timestamp{Duration{us}};
}

}  // namespace gleaner
