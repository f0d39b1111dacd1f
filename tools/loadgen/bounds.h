// The generator's own bounds, each with its reason.
#pragma once

#include <cstdint>

namespace gleaner::limits {

inline constexpr std::int64_t loadgen_hosts_max = 2'000'000;      // some 200 bytes each
inline constexpr std::int64_t loadgen_connections_max = 200'000;  // some 30 kB each, and a descriptor

}  // namespace gleaner::limits
