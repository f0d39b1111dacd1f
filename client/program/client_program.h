// gleaner-client: the command line of the daemon.
#pragma once

namespace gleaner::program {
[[nodiscard]] int client_main(int argc, char** argv);
}
