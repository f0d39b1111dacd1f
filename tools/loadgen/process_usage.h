// What a process has used, from /proc. Errors: not_found (there is no such process, or none that may be
// seen).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::loadgen {

struct ProcessUsage {
  Duration cpu{0};                  // user and system time of all its threads, those that ended included
  std::int64_t resident_bytes = 0;  // now
};
[[nodiscard]] Result<ProcessUsage> usage_of(pid_t process);

}  // namespace gleaner::loadgen
