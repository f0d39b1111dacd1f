// What the bottleneck of a relay is found from (shared/bottleneck/relay_bottleneck.h): the relay and the
// hosts under it, as the admin API has them. Writer thread. O(hosts under it). Errors: not_found; too_large,
// with the command that has no such limit.
#pragma once

#include <string>

#include "server/service/core/transaction.h"
#include "shared/bottleneck/relay_bottleneck.h"

namespace gleaner::service {

[[nodiscard]] Status gather_relay(Transaction& tx, const std::string& name, Result<RelayFigures>& result);

}  // namespace gleaner::service
