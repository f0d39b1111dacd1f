// What a relay's hosts are to it beside the rest of the model. Writer thread.
#pragma once

#include "server/relay/leases/upstream.h"

namespace gleaner::service {

// Benchmarks of all slots of a host, or of all hosts under a relay, as it said.
[[nodiscard]] double performance_of(const Model& model, const Host& host);

}  // namespace gleaner::service
