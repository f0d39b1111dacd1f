#include "tools/admin/figures.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "shared/base/limits.h"

namespace gleaner::admin {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Three significant digits, never an exponent below 10,000.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 1 || value == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
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

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units.at(unit));
}

std::string rate_text(double per_second) {
  if (!std::isfinite(per_second) || per_second < 0) return "-";
  if (per_second >= 9.995e8) return three_digits(per_second / 1e9) + " G";
  if (per_second >= 9.995e5) return three_digits(per_second / 1e6) + " M";
  if (per_second >= 9'999.5) return three_digits(per_second / 1e3) + " k";
  return three_digits(per_second);
}

std::string percent_text(double part, double whole) {
  if (!(whole > 0)) return "-";
  return fmt::format("{:.1f} %", 100 * part / whole);
}

std::string span_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "-";
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  const std::int64_t days = total / 86'400;
  const std::int64_t hours = total / 3600 % 24;
  const std::int64_t minutes = total / 60 % 60;
  if (days > 0) return fmt::format("{} d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

std::string ago_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "never";
  if (seconds < 90) return fmt::format("{:.0f} s ago", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min ago", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h ago", seconds / 3600);
  return fmt::format("{:.0f} d ago", seconds / 86'400);
}

std::string time_text(Timestamp time) {
  if (to_microseconds(time) <= 0) return "-";
  std::string text = to_rfc3339(time).substr(0, 19);  // without the milliseconds
  text[10] = ' ';
  return text + " UTC";
}

std::string counted(std::int64_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return text;
}

Result<std::int64_t> seconds_of(const std::string& option, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::int64_t unit = 0;
  if (fault == std::errc{} && end + 1 == text.data() + text.size()) {
    switch (*end) {
      case 's':
        unit = 1;
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      case 'd':
        unit = 86'400;
        break;
      case 'w':
        unit = 7 * 86'400;
        break;
      default:
        break;
    }
  }
  if (unit == 0 || number < 1 || number > limits::code_seconds_max / unit)
    return Error{ErrorKind::invalid,
                 option + ": expected a time such as 12h, 30d or 8w, of at most ten years"};
  return number * unit;
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (const char byte : text) columns += continues_character(byte) ? 0 : 1;
  return columns;
}

std::string fit(std::string_view text, int columns) {
  if (columns_of(text) <= columns) return std::string(text);
  const int keep = columns > 2 ? columns - 2 : columns;
  std::size_t at = 0;
  for (int column = 0; at < text.size(); ++at) {
    if (continues_character(text[at])) continue;
    if (column++ == keep) break;
  }
  return std::string(text.substr(0, at)) + (columns > 2 ? ".." : "");
}

}  // namespace gleaner::admin
