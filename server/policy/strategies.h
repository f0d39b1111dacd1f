// What a problem's strategy text may name: a sizing strategy (how many items an asking host gets) or a
// mapping strategy (which task is queued for which host). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::policy {

enum class StrategyKind { sizing, mapping };

// Checks the whole text with its options. invalid: what is wrong, and what there is.
[[nodiscard]] Result<StrategyKind> strategy_kind(std::string_view text);
// What a stage's sizing is set up with: the strategy itself, or where a mapping strategy governs, one that is
// never asked while plans are followed.
[[nodiscard]] std::string sizing_of(const std::string& strategy);

// The rule for stragglers of a problem that names none: its strategy's own, or else what the project says.
[[nodiscard]] std::string straggler_for(std::string_view strategy, const std::string& configured);

}  // namespace gleaner::policy
