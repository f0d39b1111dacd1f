// What a stage changed goes into the store, and what follows from it. Writer thread only.
#pragma once

#include <string>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// "1 item", "7 items".
[[nodiscard]] std::string items_text(std::int64_t count);
// The rows for what a stage changed, and its set-aside ranges. A complete stage is due (Transaction::due).
[[nodiscard]] Status store_stage(Transaction& tx, Problem& problem, const policy::Changes& changes);
// Cancels every open unit of the stage.
[[nodiscard]] Status close_units(Transaction& tx, Problem& problem);

}  // namespace gleaner::service
