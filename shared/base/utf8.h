// UTF-8, one character at a time (Unicode 15, table 3-7; RFC 3629). Stateless and thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace gleaner {

inline constexpr std::string_view utf8_replacement = "\xEF\xBF\xBD";  // U+FFFD, for what is not UTF-8

struct Utf8Character {
  std::size_t bytes = 0;  // 0: `text` does not begin with a well-formed character
  char32_t code = 0;
};
[[nodiscard]] Utf8Character first_character(std::string_view text);

// C0 and C1 controls and delete: terminals obey them all.
[[nodiscard]] constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

// Characters that turn the direction of what is around them, break its line or cannot be seen: U+200B to
// U+200F, U+2028 to U+202E, U+2060 to U+206F (Unicode 15, 23.2).
[[nodiscard]] constexpr bool is_format_control(char32_t code) {
  return (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F);
}

}  // namespace gleaner
