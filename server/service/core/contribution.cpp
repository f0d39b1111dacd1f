#include "server/service/core/contribution.h"

#include <algorithm>

namespace gleaner::service {
namespace {

// Two counts that are further apart say nothing of the time between them: the server was overloaded or
// asleep.
constexpr auto gap_max = std::chrono::seconds{30};

std::int64_t day_of(Timestamp time) {
  return std::chrono::floor<std::chrono::days>(time.time_since_epoch()).count();
}

}  // namespace

void Contribution::count(Timestamp now, std::int64_t cores, double watts, std::int64_t items_accepted_ever) {
  const Duration gap = now - counted_;
  const bool first = counted_ == Timestamp{};
  const double seconds = !first && gap > Duration{0} && gap <= gap_max ? to_seconds(gap) : 0;
  const std::int64_t items = first ? 0 : std::max<std::int64_t>(0, items_accepted_ever - items_);
  counted_ = now;
  items_ = items_accepted_ever;
  if (items == 0 && (seconds <= 0 || cores == 0)) return;
  const std::int64_t day = day_of(now);
  if (pending_.empty() || pending_.back().day != day) pending_.push_back({day, 0, 0, 0});
  storage::DayRow& row = pending_.back();
  row.core_seconds += static_cast<double>(cores) * seconds;
  row.joules += watts * seconds;
  row.items += items;
}

}  // namespace gleaner::service
