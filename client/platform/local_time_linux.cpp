#include <time.h>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

using client_policy::ClockShift;
using client_policy::LocalTime;

constexpr std::time_t minute = 60, day = 24 * 3600;
constexpr int days_ahead = 8;  // hours are those of a week

std::tm local_at(std::time_t time) {
  std::tm local{};
  (void)::localtime_r(&time, &local);  // beyond the year 2^31: midnight of a Sunday
  return local;
}

// The first minute after `from` that has the offset of `to`.
std::time_t change_between(std::time_t from, std::time_t to) {
  const long after = local_at(to).tm_gmtoff;
  while (to - from > minute) {
    const std::time_t middle = from + (to - from) / 2 / minute * minute;
    (local_at(middle).tm_gmtoff == after ? to : from) = middle == from ? from + minute : middle;
  }
  return to;
}

}  // namespace

LocalTime local_time_at(std::time_t now) {
  ::tzset();  // the zone may have been changed; localtime_r() looks only once
  const std::tm local = local_at(now);
  LocalTime time{(((local.tm_wday + 6) % 7) * 24 + local.tm_hour) * 60 + local.tm_min};
  time.second = local.tm_sec;
  const std::time_t begin = now - local.tm_sec;
  for (std::time_t at = begin; at < begin + days_ahead * day; at += day) {
    const long before = local_at(at).tm_gmtoff;
    const long after = local_at(at + day).tm_gmtoff;
    if (before == after) continue;
    const std::time_t change = change_between(at, at + day);
    time.shifts.push_back(
        {static_cast<int>((change - begin) / minute), static_cast<int>((after - before) / minute)});
  }
  return time;
}

}  // namespace gleaner::platform
