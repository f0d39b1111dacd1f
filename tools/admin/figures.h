// Numbers as people read and write them. Pure, thread-safe. Texts are ASCII.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::admin {

[[nodiscard]] std::string count_text(std::int64_t count);           // 1,234,567
[[nodiscard]] std::string bytes_text(std::int64_t bytes);           // 812 B, 1.4 KiB, 20.0 MiB
[[nodiscard]] std::string rate_text(double per_second);             // 0.0123, 1.23, 12.3, 123, 12.3 k, 1.23 M
[[nodiscard]] std::string percent_text(double part, double whole);  // "52.3 %"; "-" where there is no whole
[[nodiscard]] std::string span_text(double seconds);  // 0:07, 12:34, 1:02:03, 2 d 03:04; "-" if negative
[[nodiscard]] std::string ago_text(double seconds);   // 5 s ago, 3 min ago, 2 h ago, 4 d ago
[[nodiscard]] std::string time_text(Timestamp time);  // 2026-11-20 22:04:05 UTC; "-" for none
// "1 split", "3 splits".
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);

[[nodiscard]] std::string joined(const std::vector<std::string>& list);  // "a, b"

// Of "90s", "30m", "12h", "30d" or "8w", at most ten years. invalid: names the option.
[[nodiscard]] Result<std::int64_t> seconds_of(const std::string& option, const std::string& text);

// Columns that a UTF-8 text takes: its code points (double-width characters are not told apart).
[[nodiscard]] int columns_of(std::string_view text);
// At most `columns`, with ".." at the end where something was cut.
[[nodiscard]] std::string fit(std::string_view text, int columns);

}  // namespace gleaner::admin
