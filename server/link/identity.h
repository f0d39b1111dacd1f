// Who may speak over a link that leaves the machine: whoever holds the one key that its leader and its front
// ends share. Each shows the certificate of it, and takes nothing but this very one from the other.
#pragma once

#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::link {

// PEM: certificates and the private key of the first, as read from the file.
using Identity = std::string;

// Of a link that never leaves the machine: a unix socket, which its mode guards.
inline const Identity no_identity = {};

// A new file of mode 600. conflict: it is there already.
[[nodiscard]] Status make_identity(io::Files& files, const io::Path& file, Timestamp now);
// Errors: not_found, untrusted (others may read it), io.
[[nodiscard]] Result<Identity> read_identity(const io::Files& files, const io::Path& file);

}  // namespace gleaner::link
