// Numbers as people read and write them. Pure, thread-safe. Texts are ASCII.
// The console writes numbers by the same rules (server/console/web/src/words.ts): a change here is one there,
// too. functional_figures compares what both say of one moment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/figures.h"
#include "shared/base/result.h"

namespace gleaner::admin {

[[nodiscard]] std::string span_text(double low, double high);  // in seconds: "12 to 26 min", "90 s to 3 min"
// In seconds: "about 18 min (12 to 26 min)"; the middle alone where both ends read alike.
[[nodiscard]] std::string interval_text(double middle, double low, double high);
[[nodiscard]] std::string ago_text(double seconds);   // 5 s ago, 3 min ago, 2 h ago, 4 days ago
[[nodiscard]] std::string time_text(Timestamp time);  // 2026-11-20 22:04:05 UTC; "-" for none

[[nodiscard]] std::string joined(const std::vector<std::string>& list);  // "a, b"

// Of "90s", "30m", "12h", "30d" or "8w", at most ten years. invalid: names the option.
[[nodiscard]] Result<std::int64_t> seconds_of(const std::string& option, const std::string& text);

// Columns that a UTF-8 text takes: its code points (double-width characters are not told apart).
[[nodiscard]] int columns_of(std::string_view text);
// At most `columns`, with ".." at the end where something was cut.
[[nodiscard]] std::string fit(std::string_view text, int columns);

}  // namespace gleaner::admin
