#include "shared/base/figures.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gleaner {
namespace {

// As the console rounds, to the last bit.
std::string rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return fmt::format("{:.{}f}", std::round(value * scale) / scale, decimals);
}

}  // namespace

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string figure_text(double value) {
  constexpr double countable = 1e15;
  if (!std::isfinite(value) || value < 0) return "-";
  if (value >= countable) return fmt::format("{:.3g}", value);
  if (value >= 999.5) return count_text(std::llround(value));
  if (value == 0) return "0";
  std::string text = rounded(value, std::max(0, 2 - static_cast<int>(std::floor(std::log10(value)))));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

std::string percent_text(double part, double whole) {
  if (!(whole > 0)) return "-";
  const double share = std::min(1.0, part / whole);
  return rounded(100 * share, share > 0 && share < 1 ? 1 : 0) + " %";
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "-";
  const std::int64_t total = std::llround(seconds);
  if (total < 120) return fmt::format("{} s", total);
  if (total < 7200) return rounded(static_cast<double>(total) / 60, 0) + " min";
  if (total < 172'800) return fmt::format("{} h {} min", total / 3600, total / 60 % 60);
  return fmt::format("{} d {} h", total / 86'400, total / 3600 % 24);
}

std::string core_hours_text(double hours) {
  return hours > 0 && hours < 0.001 ? "< 0.001" : figure_text(hours);
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
  return rounded(value, 1) + " " + units.at(unit);
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
