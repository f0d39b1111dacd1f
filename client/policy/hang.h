// When a kernel counts as hung. Either it sleeps (uses no CPU and waits for none, for a long time), or one
// item takes far longer than the manifest's item_seconds, "an item slower than this on the slowest sensible
// host", in CPU time: so a kernel that is starved, throttled or paused does not count as hung. Or it takes so
// long without a pause that no owner's computer is as slow: CPU time can be hidden (children whose end nobody
// waits for), and dozing costs none. Pure. Cost: O(1).
#pragma once

#include <chrono>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

struct HangView {
  Duration asleep{0};           // how long it has been sleeping without using CPU, not paused
  Duration cpu_on_item{0};      // CPU time since the last item (or the start of the unit)
  Duration running_on_item{0};  // the same by the clock, pauses left out
  double item_seconds = 600;
  int threads = 1;
};

inline constexpr Duration asleep_max = std::chrono::minutes{2};
inline constexpr double item_factor = 3;
inline constexpr double running_factor = 100;  // a thirtieth of a core is left to it

enum class HangVerdict { fine, asleep, too_long, endless };
[[nodiscard]] HangVerdict judge(const HangView& view);

}  // namespace gleaner::client_policy
