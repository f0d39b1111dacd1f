#include "server/policy/calendar.h"

#include <algorithm>

namespace gleaner::policy {
namespace {

// More is a clock that was set, or a computer that slept. Less is a clock that is being disciplined.
constexpr Duration jump = std::chrono::seconds{10};
constexpr Duration longest = std::chrono::hours{24};

}  // namespace

void Calendar::look(Timestamp now, SteadyTime steady) {
  const Duration offset = now.time_since_epoch() - steady.time_since_epoch();
  const Duration drift = offset_ ? offset - *offset_ : Duration{0};
  if (!offset_ || drift >= jump || drift <= -jump) since_ = steady;
  offset_ = offset;
  agreed_ = std::max(Duration{0}, Duration{steady - since_});
}

bool may_expire(Duration agreed, Duration age) {
  return agreed >= std::min(age, longest);
}

}  // namespace gleaner::policy
