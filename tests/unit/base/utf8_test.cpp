#include "shared/base/utf8.h"

#include <string>

#include "tests/catch.h"
#include "tests/unit/base/utf8_text.h"

namespace gleaner {

TEST_CASE("every code point is read as it was written, surrogates are none", "[utf8]") {
  std::size_t wrong = 0;
  for (char32_t code = 0; code < 0x140000; ++code) {
    const std::string text = utf8_text(code) + "x";
    const auto [bytes, read] = first_character(text);
    const bool exists = code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    wrong += exists ? bytes != text.size() - 1 || read != code : bytes != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is cut off, overlong or out of place is no character", "[utf8]") {
  CHECK(first_character("").bytes == 0);
  for (const std::string text : {"\xC3", "\xE2\x82", "\xF0\x9F\x8C", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF",
                                 "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                                 "\xFF", "\xC3(", "\xE2\x82(", "\xE2(\x82"})
    CHECK(first_character(text).bytes == 0);
}

}  // namespace gleaner
