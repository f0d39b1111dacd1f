// What a relay owes its parent (upstream.h), read from the store and looked at beside the rest of the model.
// Writer thread.
#pragma once

#include "server/service/core/model.h"

namespace gleaner::service {

// Of its stages, which must have their accepted items and units. `hour_ago`: what was answered since is
// passed to its hosts again.
[[nodiscard]] Status load_upstream(storage::Store& store, Model& model, Timestamp hour_ago);
// Benchmarks of all slots of a host, or of all hosts under a relay, as it said.
[[nodiscard]] double performance_of(const Model& model, const Host& host);

}  // namespace gleaner::service
