#include "shared/base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace gleaner {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
  [[nodiscard]] SteadyTime steady() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

std::string to_rfc3339(Timestamp time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
  const std::int64_t seconds = milliseconds >= 0 ? milliseconds / 1000 : -((-milliseconds + 999) / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     milliseconds - seconds * 1000);
}

std::string local_text(Timestamp time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(seconds)));
}

}  // namespace gleaner
