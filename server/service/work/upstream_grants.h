// What a relay grants: parts of what its parent leases to it. Writer thread only.
#pragma once

#include "server/service/core/transaction.h"
#include "server/service/core/work_outcome.h"

namespace gleaner::service {

// The unit into the outcome, with what stands behind it.
[[nodiscard]] Status grant_part(Transaction& tx, const policy::SlotGrant& granted, WorkOutcome& outcome);

}  // namespace gleaner::service
