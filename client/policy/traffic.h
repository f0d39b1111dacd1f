// The volume of this computer's traffic by day and month, for who pays for it. Days and months are those of
// the computer's own clock and zone; where that shows another day than before, also an earlier one, a day
// begins anew. Pure. Cost: O(1).
#pragma once

#include <cstdint>
#include <string>

#include "client/policy/local_time.h"
#include "shared/base/clock.h"

namespace gleaner::client_policy {

struct LocalDate {
  std::int64_t day = 0;    // since 1970
  std::int64_t month = 0;  // since January of the year 0
};
[[nodiscard]] LocalDate date_of(Timestamp now, const LocalTime& local);

// In both directions.
struct TrafficCount {
  LocalDate date;
  std::int64_t day_bytes = 0;
  std::int64_t month_bytes = 0;
};
void add_traffic(TrafficCount& count, const LocalDate& date, std::int64_t bytes);

struct TrafficLimits {
  std::int64_t day_bytes = 0;  // 0: any
  std::int64_t month_bytes = 0;
};
// Why nothing more may be moved; empty: it may.
[[nodiscard]] std::string traffic_trouble(const TrafficCount& count, const TrafficLimits& limits);
// Bytes that may still be moved; INT64_MAX: any.
[[nodiscard]] std::int64_t traffic_left(const TrafficCount& count, const TrafficLimits& limits);
// "traffic: 12.0 MiB of 500.0 MiB today, 340.2 MiB this month".
[[nodiscard]] std::string text_of(const TrafficCount& count, const TrafficLimits& limits);

}  // namespace gleaner::client_policy
