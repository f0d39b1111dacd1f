// The end of a stage. Pure.
#pragma once

#include "server/policy/stage/stage.h"

namespace gleaner::policy {

// The stage cannot be completed: all items but quarantined ones are accepted, and no unit is open.
[[nodiscard]] bool only_failed_items_left(const Stage& stage);

}  // namespace gleaner::policy
