// What stages cost, and what of that was computed for nothing.
#pragma once

#include "server/storage/store.h"

namespace gleaner::service {

// What the hints of its items come to.
[[nodiscard]] double total_cost(const storage::StageRow& row);
// Problem::wasted_before of the stage that begins after `last`, when `next_before` of the problem is done.
[[nodiscard]] double wasted_after(double wasted_before, const storage::StageRow& last, double next_before);

}  // namespace gleaner::service
