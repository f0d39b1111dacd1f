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

}  // namespace gleaner::protocol
