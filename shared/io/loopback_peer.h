// The user at the other end of a connection over the loopback device. Any user of this computer can connect
// to a port there, and can read the arguments of every program, so neither an address nor a secret in it
// proves who asks. Platform file: loopback_peer_linux.cpp.
#pragma once

#include <cstdint>

namespace gleaner::io {

// Has a process of this one's user the other end of `socket` open, a TCP connection over IPv4? False also if
// no process of this computer has it open any more, or the system does not tell. Thread-safe.
[[nodiscard]] bool peer_is_of_own_user(std::intptr_t socket);

}  // namespace gleaner::io
