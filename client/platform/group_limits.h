// What the control groups of this process allow it: a container's or a service's quota of processor time and
// limit of memory. Versions 1 and 2, the smallest on the way from its group up to the top. Called from any
// thread. Platform file: group_limits_linux.cpp.
#pragma once

#include <cstdint>
#include <limits>

#include "shared/io/files.h"

namespace gleaner::platform {

struct GroupLimits {
  double processors = std::numeric_limits<double>::infinity();  // worth of time
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();
};

// What cannot be read limits nothing. Some file reads: not for every tick.
[[nodiscard]] GroupLimits group_limits(const io::Path& proc, const io::Path& mount);

}  // namespace gleaner::platform
