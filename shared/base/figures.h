// Numbers, sizes and dates as people read them, the same in all programs. Pure, thread-safe. Texts are ASCII.
// The console writes them by the same rules (server/console/web/src/words.ts).
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/clock.h"

namespace gleaner {

[[nodiscard]] std::string count_text(std::int64_t count);  // 1,234,567
[[nodiscard]] std::string figure_text(double value);       // 0.0123, 1.2, 12.3, 12,345; "-" if negative
[[nodiscard]] std::string core_hours_text(double hours);   // the same; "< 0.001" for less than 4 s of a core
[[nodiscard]] std::string percent_text(double part,
                                       double whole);      // "52.3 %", "100 %"; "-" where there is no whole
[[nodiscard]] std::string duration_text(double seconds);   // 7 s, 26 min, 3 h 5 min, 2 d 4 h; "-" if negative
[[nodiscard]] std::string bytes_text(std::int64_t bytes);  // 812 B, 1.4 KiB, 20.0 MiB
// "1 split", "1,234 splits".
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);
// Of a noun with another plural, or one with a verb: "1 entry", "3 entries"; "1 blob is", "3 blobs are".
[[nodiscard]] std::string counted(std::int64_t count, const std::string& one, const std::string& several);
// For readers who may be elsewhere: 2026-11-20 22:04 UTC. On their own computer: local_text() of clock.h.
[[nodiscard]] std::string utc_text(Timestamp time);

}  // namespace gleaner
