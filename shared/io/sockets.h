// Sockets as the system has them. Thread-safe. Platform file: sockets_linux.cpp.
#pragma once

#include <cstdint>

namespace gleaner::io {

// A new one that no child inherits; negative if there is none to be had. The numbers are the system's.
[[nodiscard]] std::intptr_t open_socket(int family, int type, int protocol);

}  // namespace gleaner::io
