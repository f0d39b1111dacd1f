#include "client/policy/traffic.h"

#include <algorithm>

#include "shared/base/figures.h"

namespace gleaner::client_policy {
namespace {

constexpr int minutes_a_day = 24 * 60;

std::string part_text(std::int64_t bytes, std::int64_t bytes_max, const char* when) {
  return bytes_text(bytes) + (bytes_max > 0 ? " of " + bytes_text(bytes_max) : "") + when;
}

}  // namespace

LocalDate date_of(Timestamp now, const LocalTime& local) {
  const std::int64_t minutes = std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count();
  constexpr std::int64_t first_minute = 3 * minutes_a_day;  // of the week: 1970 began with a Thursday
  std::int64_t offset = (local.minute_of_week - (minutes + first_minute)) % minutes_per_week;
  // No zone is more than 14 hours from UTC.
  if (offset < -minutes_per_week / 2) offset += minutes_per_week;
  if (offset > minutes_per_week / 2) offset -= minutes_per_week;
  const auto day = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::minutes>{std::chrono::minutes{minutes + offset}});
  const std::chrono::year_month_day date{day};
  return {day.time_since_epoch().count(),
          std::int64_t{12} * static_cast<int>(date.year()) + static_cast<unsigned>(date.month()) - 1};
}

void add_traffic(TrafficCount& count, const LocalDate& date, std::int64_t bytes) {
  if (date.day != count.date.day) count.day_bytes = 0;
  if (date.month != count.date.month) count.month_bytes = 0;
  count.date = date;
  count.day_bytes += bytes;
  count.month_bytes += bytes;
}

std::string traffic_trouble(const TrafficCount& count, const TrafficLimits& limits) {
  if (limits.month_bytes > 0 && count.month_bytes >= limits.month_bytes)
    return "this month's traffic of " + bytes_text(limits.month_bytes) +
           " is used up, say the preferences; a new month begins with its first day";
  if (limits.day_bytes > 0 && count.day_bytes >= limits.day_bytes)
    return "today's traffic of " + bytes_text(limits.day_bytes) +
           " is used up, say the preferences; a new day begins at midnight";
  return {};
}

std::int64_t traffic_left(const TrafficCount& count, const TrafficLimits& limits) {
  std::int64_t left = INT64_MAX;
  if (limits.month_bytes > 0)
    left = std::min(left, std::max<std::int64_t>(0, limits.month_bytes - count.month_bytes));
  if (limits.day_bytes > 0)
    left = std::min(left, std::max<std::int64_t>(0, limits.day_bytes - count.day_bytes));
  return left;
}

std::string text_of(const TrafficCount& count, const TrafficLimits& limits) {
  return "traffic: " + part_text(count.day_bytes, limits.day_bytes, " today, ") +
         part_text(count.month_bytes, limits.month_bytes, " this month");
}

}  // namespace gleaner::client_policy
