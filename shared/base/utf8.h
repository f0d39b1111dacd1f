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

// May a person be shown it? Not C0, C1 and delete, which terminals obey; nor what ends a line, turns the
// direction of what is around it or cannot be seen, so that it makes one name look like another: U+2028,
// U+2029, Bidi_Control and Default_Ignorable_Code_Point (Unicode 15, DerivedCoreProperties.txt: zero-width
// characters, variation selectors, tags), annotations and noncharacters.
[[nodiscard]] constexpr bool is_shown(char32_t code) {
  if (code < 0x7F) return code >= 0x20;
  if (code < 0xA0 || code == 0xAD) return false;
  if (code < 0x034F) return true;
  struct Span {
    char32_t first, last;
  };
  constexpr Span hidden[] = {{0x034F, 0x034F},  {0x061C, 0x061C}, {0x115F, 0x1160},   {0x17B4, 0x17B5},
                             {0x180B, 0x180F},  {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
                             {0x3164, 0x3164},  {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
                             {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
                             {0xE0000, 0xE0FFF}};
  for (const Span& span : hidden)
    if (code >= span.first && code <= span.last) return false;
  return (code & 0xFFFE) != 0xFFFE;
}

}  // namespace gleaner
