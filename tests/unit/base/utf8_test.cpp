#include "shared/base/utf8.h"

#include <string>

#include "tests/catch.h"

namespace gleaner {
namespace {

std::string encoded(char32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

TEST_CASE("every code point is read as it was written, surrogates are none", "[utf8]") {
  std::size_t wrong = 0;
  for (char32_t code = 0; code < 0x140000; ++code) {
    const std::string text = encoded(code) + "x";
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
