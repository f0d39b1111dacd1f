// Which problems may get items to compute after they began: failed ones again, or further ones. Writer
// thread.
#pragma once

#include <string>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// conflict: "problem NAME WHY".
[[nodiscard]] Error refusal_of(const Problem& problem, const std::string& why);

// Null, and why not now. While its manager is asked, Underway::previews has it, so that nothing is combined.
[[nodiscard]] Problem* reopenable(Transaction& tx, ProblemId id, Error& why);

}  // namespace gleaner::service
