// gleaner-server: its command line. `init` makes a project, `run` serves it (program_run.h).
#pragma once

namespace gleaner::server {

// Exit codes: 0 success, 1 failure, 2 wrong usage.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace gleaner::server
