// Unix sockets by their paths. Errors: io, with what to do. Platform file: local_socket_linux.cpp.
#pragma once

#include <sys/types.h>

#include <optional>

#include "shared/base/result.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"

namespace gleaner::platform {

// Listens without blocking; takes the place of a socket that an earlier run left. `mode`: who may connect.
[[nodiscard]] Result<io::Descriptor> listen_locally(const io::Path& path, mode_t mode);
// The next that connected, if any does; not blocking.
[[nodiscard]] io::Descriptor accept_locally(const io::Descriptor& listener);
// The user who connected.
[[nodiscard]] std::optional<uid_t> user_of(int connection);

}  // namespace gleaner::platform
