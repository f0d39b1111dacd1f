#include "server/service/core/host_day.h"

#include <algorithm>
#include <cmath>

namespace gleaner::service {
namespace {

std::int64_t hour_of(Timestamp at) {
  return std::chrono::floor<std::chrono::hours>(at.time_since_epoch()).count();
}

}  // namespace

// Hours that it skips are unknown.
void HostDay::turn_to(std::int64_t hour) {
  const bool anew = newest_ < 0 || hour < newest_ || hour - newest_ >= hours;
  if (anew) mean_.fill(unknown);
  if (!anew)
    for (std::int64_t skipped = newest_ + 1; skipped < hour; ++skipped) mean_[skipped % hours] = unknown;
  newest_ = hour;
  sum_ = 0;
  reports_ = 0;
}

void HostDay::add(Timestamp now, double cpu) {
  const std::int64_t hour = hour_of(now);
  if (hour < 0 || !(cpu >= 0)) return;
  if (hour != newest_) turn_to(hour);
  sum_ += static_cast<float>(std::min(cpu, 1.0));
  ++reports_;
  mean_[hour % hours] = static_cast<std::int8_t>(std::lround(100 * sum_ / static_cast<float>(reports_)));
}

std::vector<int> HostDay::percents(Timestamp now) const {
  const std::int64_t last = hour_of(now);
  std::vector<int> day;
  if (newest_ < 0 || last - newest_ >= hours || last < newest_) return day;
  for (std::int64_t hour = last - hours + 1; hour <= last; ++hour)
    day.push_back(hour > newest_ || hour <= newest_ - hours ? unknown : mean_[hour % hours]);
  return day;
}

}  // namespace gleaner::service
