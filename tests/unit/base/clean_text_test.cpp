#include "shared/base/clean_text.h"

#include <algorithm>
#include <string>

#include "shared/base/random.h"
#include "shared/base/utf8.h"
#include "tests/catch.h"
#include "tests/unit/base/utf8_text.h"

namespace gleaner {

TEST_CASE("clean text stays as it is", "[text]") {
  CHECK(clean_text("", 10).empty());
  CHECK(clean_text("a\tb\nc \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE", 100) ==
        "a\tb\nc \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE");
  CHECK(clean_text("exact", 5) == "exact");
  CHECK(is_clean("Zürich · 日本 שלום 🌾"));
  CHECK(is_clean("a\nb", "\n"));
}

TEST_CASE("what terminals and readers would choke on is replaced", "[text]") {
  CHECK(clean_text("\x1b[31mred\r\x7f", 100) == " [31mred  ");
  CHECK(clean_text("\xC2\x9b"
                   "31m",
                   100) == " 31m");
  CHECK(clean_text("a\xff\xC3", 100) == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(clean_text("\xC0\x80", 100) == "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  CHECK(clean_text("\xED\xA0\x80", 100).find('\xED') == std::string::npos);  // surrogate
  CHECK(clean_text("\xF4\x90\x80\x80", 100).find('\xF4') == std::string::npos);
  CHECK(clean_line("  two\nlines\t ", 100) == "two lines");
  CHECK(clean_line(" \n ", 100).empty());
  CHECK(clean_line("\x1b]0;title\x07name\x1b\\") == "]0;title name \\");  // a window's title
}

TEST_CASE("characters that hide, or turn what is around them, are not shown", "[text]") {
  for (const char32_t code :
       {0x00,   0x07,   0x1B,   0x7F,   0x85,    0x9B,    0xAD,    0x061C,  0x180E, 0x200B,
        0x200D, 0x200E, 0x200F, 0x2028, 0x2029,  0x202A,  0x202E,  0x2060,  0x2066, 0x2069,
        0xFE0F, 0xFEFF, 0xFFF9, 0xFFFE, 0x1FFFF, 0xE0001, 0xE0061, 0xE007F, 0xE0100}) {
    INFO(static_cast<unsigned>(code));
    CHECK_FALSE(is_shown(code));
    CHECK_FALSE(is_clean("a" + utf8_text(code) + "b"));
    CHECK(clean_line("a" + utf8_text(code) + "b") == "a b");
  }
  for (const char32_t code : {0x20, 0x7E, 0xA0, 0xE9, 0x05D0, 0x0639, 0x2013, 0x3042, 0xFFFD, 0x1F33E})
    CHECK(is_shown(code));
}

TEST_CASE("long text is cut between characters", "[text]") {
  CHECK(clean_text("abcdefgh", 6) == "abc...");
  CHECK(clean_text("ab\xE2\x82\xACxyz", 7) == "ab...");
  CHECK(clean_text("abcdefgh", 2).size() <= 2);
  CHECK(clean_text("abcdefgh", 0).empty());
  CHECK(clean_line("   abcdefgh", 6) == "abc...");
}

TEST_CASE("random bytes become clean text within the bound, and stay as they are then", "[text]") {
  Random random(17);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(200); n > 0; --n)
      bytes += random.below(4) == 0 ? utf8_text(static_cast<char32_t>(random.below(0xE1000)))
                                    : std::string(1, static_cast<char>(random.below(256)));
    const std::size_t most = random.below(150);
    const std::string text = clean_text(bytes, most), line = clean_line(bytes, most);
    CHECK((text.size() <= most && line.size() <= most));
    CHECK((is_clean(text, "\n\t") && is_clean(line)));
    CHECK((clean_text(text, most) == text && clean_line(line, most) == line));
  }
}

}  // namespace gleaner
