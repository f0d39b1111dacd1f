// When a stage has come to its end. Pure.
#pragma once

#include "server/policy/stage/stage.h"

namespace gleaner::policy {

// Of the stage's items everything is accepted but some that are set aside, and nobody computes any: it cannot
// be completed.
[[nodiscard]] bool only_failed_items_left(const Stage& stage);

}  // namespace gleaner::policy
