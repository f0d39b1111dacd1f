#include "shared/base/figures.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gleaner {

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", std::round(value * 10) / 10, units.at(unit));  // as the console rounds
}

std::string counted(std::int64_t count, const std::string& noun) {
  return counted(count, noun, noun + "s");
}

std::string counted(std::int64_t count, const std::string& one, const std::string& several) {
  return count_text(count) + " " + (count == 1 ? one : several);
}

std::string utc_text(Timestamp time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace gleaner
