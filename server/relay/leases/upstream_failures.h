// What hosts of a relay signed of kernels that failed (Model::failures_below), on its way to the parent.
// Writer thread only.
#pragma once

#include <vector>

#include "server/service/core/transaction.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

// Some that are to go up now, the oldest first, each for the unit of the parent that has its item. One that
// no lease has is of no use to anybody, and dropped.
[[nodiscard]] std::vector<protocol::FailureReport> next_failures(Transaction& tx);
// The parent has answered these, whatever it said. `again`: the others are not told before.
void failures_told(Transaction& tx, const std::vector<protocol::FailureReport>& told, Timestamp again);

}  // namespace gleaner::service
