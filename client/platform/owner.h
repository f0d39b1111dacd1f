// The superuser on somebody else's state. Platform file: owner_linux.cpp.
#pragma once

#include <string>

#include "shared/io/files.h"

namespace gleaner::platform {

// If this is the superuser's process and `state` belongs to another user (the package's service has its own),
// becomes that user for good, so that nothing is left there which its owner cannot read. The user's name;
// empty: nothing to do. io if the system refuses.
[[nodiscard]] Result<std::string> become_owner_of(const io::Path& state);

// For a program that does not change its user. invalid: the superuser runs it and `state` belongs to another
// user; the message says how that user runs it.
[[nodiscard]] Status check_owner(const io::Path& state);

}  // namespace gleaner::platform
