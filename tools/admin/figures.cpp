#include "tools/admin/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "shared/base/limits.h"

namespace gleaner::admin {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// "12 to 26 min": the first's unit, where it is the only one and the second's, too.
std::string without_unit(const std::string& low, const std::string& high) {
  const auto at = low.find(' ');
  if (at == std::string::npos || low.find(' ', at + 1) != std::string::npos) return low;
  const auto other = high.find(' ');
  return other != std::string::npos && low.substr(at) == high.substr(other) ? low.substr(0, at) : low;
}

}  // namespace

std::string span_text(double low, double high) {
  const std::string from = duration_text(low), to = duration_text(high);
  return from == to ? from : without_unit(from, to) + " to " + to;
}

std::string interval_text(double middle, double low, double high) {
  if (duration_text(low) == duration_text(high)) return duration_text(middle);
  return "about " + duration_text(middle) + " (" + span_text(low, high) + ")";
}

std::string ago_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "never";
  const std::int64_t total = std::llround(seconds);
  if (total < 120) return fmt::format("{} s ago", total);
  if (total < 7200) return fmt::format("{} min ago", total / 60);
  if (total < 172'800) return fmt::format("{} h ago", total / 3600);
  return counted(total / 86'400, "day") + " ago";
}

std::string time_text(Timestamp time) {
  if (to_microseconds(time) <= 0) return "-";
  std::string text = to_rfc3339(time).substr(0, 19);  // without the milliseconds
  text[10] = ' ';
  return text + " UTC";
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
