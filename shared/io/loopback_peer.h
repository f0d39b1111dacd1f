// The user at the other end of a connection over the loopback device. Any user of this computer can connect
// to a port there, and can read the arguments of every program, so neither an address nor a secret in it
// proves who asks. Platform file: loopback_peer_linux.cpp.
#pragma once

#include <optional>

namespace gleaner::io {

// The user whose process has the other end of `socket` open, a TCP connection over IPv4. Nothing: no process
// of this computer has it open any more, or the system does not tell. Thread-safe.
[[nodiscard]] std::optional<unsigned> user_of_peer(int socket);

}  // namespace gleaner::io
