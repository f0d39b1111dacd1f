#include "client/engine/talk.h"

#include <algorithm>
#include <utility>

namespace gleaner::engine {

std::string Talk::excess(std::int64_t bytes, SteadyTime now) {
  const double allowed =
      to_seconds(now - std::exchange(at_, now)) * static_cast<double>(bytes_per_second_max);
  too_many_ = std::max(0.0, too_many_ - allowed) + static_cast<double>(bytes - std::exchange(bytes_, bytes));
  if (too_many_ <= static_cast<double>(bytes_at_once_max)) return {};
  return "the kernel does not stop talking: " + std::to_string(bytes >> 20) +
         " MiB of log, progress and error text so far; " + std::to_string(bytes_per_second_max >> 10) +
         " KiB a second are allowed, and " + std::to_string(bytes_at_once_max >> 20) + " MiB at once";
}

}  // namespace gleaner::engine
