// Follows a problem to its end. One thread.
#pragma once

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "tools/admin/session.h"

namespace gleaner::admin {

// Draws progress every `interval` (redrawn on a terminal, line by line elsewhere) until the problem has
// ended, and returns it as it ended. A server that goes away in between is waited for, five minutes long.
// Errors: as Api's; io if interrupted (the problem goes on).
[[nodiscard]] Result<protocol::ProblemInfo> watch_problem(Session& session, Api& api, ProblemId id,
                                                          Duration interval);

// Half a second where lines are redrawn, five where they follow each other.
[[nodiscard]] Duration default_interval(const Display& display);

}  // namespace gleaner::admin
