// What texts in messages may be. Stateless and thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/clean_text.h"

namespace gleaner::protocol {

using gleaner::clean_line;
using gleaner::clean_text;

// With spaces for the characters that cannot be seen or turn what is around them. Readers refuse such names;
// those of before they did must not make a whole message unreadable.
[[nodiscard]] std::string without_invisible(std::string_view text);

// Is it a SHA-256 digest, as messages have them: 64 characters 0-9 a-f?
[[nodiscard]] bool is_digest(std::string_view text);

}  // namespace gleaner::protocol
