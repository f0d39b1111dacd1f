// What Qureshi and Hatanaka 1999 print: Table 3 (requests of 640 scan-lines) and Table 4 (speed-ups of four
// scenes) of static, RTS, MIS and WIS on 4 to 20 machines.
#pragma once

#include <array>

namespace gleaner::simulator::wis_published {

inline constexpr std::array<int, 5> machines{4, 8, 12, 16, 20};
inline constexpr std::array<const char*, 4> strategies{"static", "rts", "mis", "wis"};
inline constexpr std::array<const char*, 4> scenes{"A", "B", "C", "D"};

// [strategy][machines]
extern const std::array<std::array<int, 5>, 4> requests;
// [strategy][machines][scene]
extern const std::array<std::array<std::array<double, 4>, 5>, 4> speedup;

}  // namespace gleaner::simulator::wis_published
