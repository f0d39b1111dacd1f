// Turns errno values into errors a person can act on. Private to this module. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::io {

// "cannot WHAT: the system's reason: what to do". ENOENT and ENOTDIR become ErrorKind::not_found, all else
// io.
[[nodiscard]] Error system_error(std::string_view what, int error_number);

}  // namespace gleaner::io
