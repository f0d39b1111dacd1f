// Exit statuses of the client's programs; documented in their --help and man pages.
#pragma once

namespace gleaner::program {
inline constexpr int exit_ok = 0;
inline constexpr int exit_problem = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_running = 3;
}  // namespace gleaner::program
