// Problems and stages of a relay: they are those that its parent leases it something of. Writer thread only.
#pragma once

#include "server/relay/leases/upstream_message.h"

namespace gleaner::service {

// The stage that the unit is of is the problem's present one afterwards; false: it is not, a later one is.
[[nodiscard]] Result<bool> begin_leased_stage(Transaction& tx, const LeasedStage& stage,
                                              const protocol::Grant& grant);

}  // namespace gleaner::service
