// What this computer contributed day by day, in the file `days`, for its owner to see: core-seconds that
// kernels ran, and joules where the owner said what a core draws. Losing it costs nothing else; what cannot
// be read counts as nothing.
#pragma once

#include <cstdint>
#include <map>

#include "shared/base/clock.h"
#include "shared/io/files.h"

namespace gleaner::state {

struct DayUse {
  double core_seconds = 0;
  double joules = 0;
  friend bool operator==(const DayUse&, const DayUse&) = default;
};

using Days = std::map<std::int64_t, DayUse>;       // by days since 1970 (UTC)
inline constexpr std::size_t days_kept_max = 371;  // 53 weeks

[[nodiscard]] std::int64_t day_of(Timestamp time);
// Of so many the oldest go.
void add_to_days(Days& days, std::int64_t day, const DayUse& more);
[[nodiscard]] Days load_days(const io::Files& files, const io::Path& path);
[[nodiscard]] Status save_days(io::Files& files, const io::Path& path, const Days& days);

}  // namespace gleaner::state
