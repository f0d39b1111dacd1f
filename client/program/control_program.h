// gleaner: the owner's command line to a running client.
#pragma once

namespace gleaner::program {
[[nodiscard]] int control_main(int argc, char** argv);
}
