// Problems and decisions as tables and text for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/console_messages.h"
#include "tools/admin/table.h"

namespace gleaner::admin {

[[nodiscard]] Table problem_table(const std::vector<protocol::ProblemInfo>& problems);
[[nodiscard]] Table share_table(const protocol::ProblemInfo& problem);
// What was handed out, to whom and why.
[[nodiscard]] Table unit_table(const protocol::ProblemInfo& problem,
                               const std::vector<protocol::DecisionInfo>& decisions);
// A host's units.
[[nodiscard]] Table host_unit_table(const std::vector<protocol::UnitInfo>& units);
[[nodiscard]] Table decision_table(const std::vector<protocol::DecisionInfo>& decisions);
enum class ErrorDetail { sentence, all };
// What failed, the same last words once: a table of sentences, or each with all that was said.
[[nodiscard]] std::string error_text(const std::vector<protocol::ErrorGroup>& errors, ErrorDetail detail,
                                     const Display& display);
[[nodiscard]] Table day_table(const std::vector<protocol::DayInfo>& days);
// Everything about one problem.
[[nodiscard]] std::string problem_text(const protocol::ProblemInfo& problem, const Display& display);
// What a problem would cost and when it would be done.
[[nodiscard]] std::string estimate_text(const protocol::ProblemEstimate& estimate, const Display& display);
// "[12, 40)" as people read it: "12-39"; "-" if empty.
[[nodiscard]] std::string items_text(Range range);

}  // namespace gleaner::admin
