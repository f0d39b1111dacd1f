// The desktop's browser. Every user of this computer can read the arguments of a program, so no address that
// is opened here may have a secret in it: it leads to a loopback port that hands the secret to its own user
// (loopback_peer.h). No file does that, since a browser from a snap or flatpak reads few of them. Platform
// file: browser_linux.cpp.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace gleaner::io {

// Starts the program that opens addresses here, in a session of its own, which outlives this process. The
// process id of the program, for waitpid(). unavailable: there is no such program.
[[nodiscard]] Result<int> open_in_browser(const std::string& address);

// Programs that this process starts from now on may end unnoticed; nobody waits for them.
void forget_programs();

}  // namespace gleaner::io
