// gleaner-agent: the command line.
#pragma once

namespace gleaner::agent {
[[nodiscard]] int agent_main(int argc, char** argv);
}
