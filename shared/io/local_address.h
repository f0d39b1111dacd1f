// The addresses of Unix sockets by their paths, however long: the system takes some hundred bytes. Platform
// file: local_address_linux.cpp.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "shared/base/result.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"

namespace gleaner::io {

// To bind() or connect() to while it lives: of a long path it is a name below an open directory.
struct LocalAddress {
  Descriptor directory;
  sockaddr_un address{};
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Errors: not_found (of a long path the directory is not there), io.
[[nodiscard]] Result<LocalAddress> local_address(const Path& path);

}  // namespace gleaner::io
