// The options of a sizing strategy: see server/policy/options/options.h.
#pragma once

#include "server/policy/options/options.h"

namespace gleaner::policy {

using SizingOptions = StrategyOptions;

}  // namespace gleaner::policy
