#include "shared/protocol/text.h"
#include "shared/base/utf8.h"

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

TEST_CASE("clean text stays as it is") {
  CHECK(clean_text("", 10).empty());
  CHECK(clean_text("a\tb\nc \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE", 100) ==
        "a\tb\nc \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE");
  CHECK(clean_text("exact", 5) == "exact");
}

TEST_CASE("what terminals and readers would choke on is replaced") {
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
}

TEST_CASE("long text is cut between characters") {
  CHECK(clean_text("abcdefgh", 6) == "abc...");
  CHECK(clean_text("ab\xE2\x82\xACxyz", 7) == "ab...");
  CHECK(clean_text("abcdefgh", 2).size() <= 2);
  CHECK(clean_text("abcdefgh", 0).empty());
}

TEST_CASE("random bytes become valid text within the bound") {
  Random random(17);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(200); n > 0; --n) bytes += static_cast<char>(random.below(256));
    const std::size_t most = random.below(150);
    const std::string clean = clean_text(bytes, most);
    CHECK(clean.size() <= most);
    for (std::string_view rest = clean; !rest.empty();) {
      const std::size_t length = first_character(rest).bytes;
      REQUIRE(length > 0);  // 0: not UTF-8
      rest.remove_prefix(length);
    }
    CHECK(clean_text(clean, 1000) == clean);
  }
}
