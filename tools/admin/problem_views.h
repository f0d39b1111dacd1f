// Problems and decisions as tables and text for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/admin_messages.h"
#include "tools/admin/table.h"

namespace gleaner::admin {

[[nodiscard]] Table problem_table(const std::vector<protocol::ProblemInfo>& problems);
[[nodiscard]] Table share_table(const protocol::ProblemInfo& problem);
// What was handed out, to whom and why.
[[nodiscard]] Table unit_table(const protocol::ProblemInfo& problem,
                               const std::vector<protocol::DecisionInfo>& decisions);
[[nodiscard]] Table decision_table(const std::vector<protocol::DecisionInfo>& decisions);
// Everything about one problem.
[[nodiscard]] std::string problem_text(const protocol::ProblemInfo& problem, const Display& display);
// "[12, 40)" as people read it: "12-39"; "-" if empty.
[[nodiscard]] std::string items_text(Range range);

}  // namespace gleaner::admin
