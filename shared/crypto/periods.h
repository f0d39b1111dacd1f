// How wrong a volunteer's clock may be before a period of validity counts as not yet begun or as over.
#pragma once

#include <chrono>

#include "shared/base/clock.h"

namespace gleaner::crypto {

inline constexpr Duration clock_skew_forgiven = std::chrono::minutes{5};

}  // namespace gleaner::crypto
