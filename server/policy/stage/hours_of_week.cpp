#include "server/policy/stage/hours_of_week.h"

#include <chrono>

namespace gleaner::policy {
namespace {

// So many interruptions at the mean rate are added to those seen: a few tell little.
constexpr double doubt = 3;

std::int64_t hour_of(Timestamp at) {
  return std::chrono::floor<std::chrono::hours>(at).time_since_epoch().count();
}

std::size_t of_week(std::int64_t hour) {
  constexpr auto hours = static_cast<std::int64_t>(HoursOfWeek::hours);
  return static_cast<std::size_t>(((hour % hours) + hours) % hours);
}

}  // namespace

HoursOfWeek::Hour& HoursOfWeek::present(Timestamp at) {
  const std::int64_t hour = hour_of(at);
  if (hour > now_) {
    if (now_ >= 0) {
      Hour& past = past_[of_week(now_)];
      for (Hour* sum : {&past, &all_}) {
        sum->seconds += now_so_far_.seconds;
        sum->interruptions += now_so_far_.interruptions;
      }
    }
    now_ = hour;
    now_so_far_ = {};
  }
  return now_so_far_;
}

void HoursOfWeek::on(Timestamp until, double seconds) {
  present(until).seconds += seconds;
}

// It is heard of when the host is back, maybe days later: what is over already gets it where it belongs.
void HoursOfWeek::interrupted(Timestamp at) {
  const std::int64_t hour = hour_of(at);
  if (hour >= now_) {
    present(at).interruptions += 1;
    return;
  }
  past_[of_week(hour)].interruptions += 1;
  all_.interruptions += 1;
}

double HoursOfWeek::factor(Timestamp at) const {
  const Hour& hour = past_[of_week(hour_of(at))];
  if (hour.seconds <= 0 || all_.interruptions <= 0) return 1;
  const double expected = hour.seconds * all_.interruptions / all_.seconds;
  return (hour.interruptions + doubt) / (expected + doubt);
}

}  // namespace gleaner::policy
