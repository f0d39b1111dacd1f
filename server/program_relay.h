// `gleaner-relay`: its command line, and `run`, where it is composed of the server's halves and the way to
// its parent.
#pragma once

namespace gleaner::server {

// The exit status: 0 done, 1 a problem, which is explained on standard error, 2 wrong usage.
[[nodiscard]] int run_relay_program(int argc, char** argv);

}  // namespace gleaner::server
