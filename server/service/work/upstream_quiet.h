// Problems of a relay that are over as far as it can see: the project finished or cancelled them, or has
// nothing of them left for it. They go from its disk; with a later lease they begin anew. Writer thread only.
#pragma once

#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// Those of which nothing has been here for an hour, as far as the calls before saw, neither a lease, nor a
// unit of a host, nor a result that the project has not answered: from model and store, with what was
// answered. A host that asks for an answer once more gets none; the project has it.
[[nodiscard]] Result<std::vector<ProblemId>> drop_quiet(Transaction& tx);

}  // namespace gleaner::service
