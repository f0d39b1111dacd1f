// What failed lately, with the same last words of one version of the application once: of which problem, how
// often, on how many hosts. From the failures that each problem keeps in memory. Writer thread only.
#pragma once

#include <vector>

#include "server/service/core/model.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

// Of problems that are not over for good; the newest first, at most limits::error_groups_max.
[[nodiscard]] std::vector<protocol::ErrorGroup> group_errors(const Model& model);
// Of one, whatever became of it.
[[nodiscard]] std::vector<protocol::ErrorGroup> group_errors(const Model& model, const Problem& problem);

}  // namespace gleaner::service
