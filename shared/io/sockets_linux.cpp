#include <sys/socket.h>

#include "shared/io/sockets.h"

namespace gleaner::io {

std::intptr_t open_socket(int family, int type, int protocol) {
  return ::socket(family, type | SOCK_CLOEXEC, protocol);
}

}  // namespace gleaner::io
