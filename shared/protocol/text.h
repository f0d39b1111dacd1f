// Text from programs and people that we do not trust, made fit to be sent, logged and shown.
// Stateless and thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gleaner::protocol {

// Valid UTF-8 of at most bytes_max bytes: bytes that are not UTF-8 become U+FFFD, control characters other
// than line feed and tab become spaces (no terminal escapes), and what is too long ends in "...".
[[nodiscard]] std::string clean_text(std::string_view text, std::size_t bytes_max);

// The same on one line, without blanks around it: for names and messages in lists.
[[nodiscard]] std::string clean_line(std::string_view text, std::size_t bytes_max);

// C0 but for those allowed, delete, and C1 (U+0080 to U+009F), which terminals obey as well. `text` is valid
// UTF-8.
[[nodiscard]] bool has_control_characters(std::string_view text, std::string_view allowed = {});

// Is it a SHA-256 digest, as messages have them: 64 characters 0-9 a-f?
[[nodiscard]] bool is_digest(std::string_view text);

}  // namespace gleaner::protocol
