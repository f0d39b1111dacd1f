#include "shared/base/words.h"

#include "shared/base/limits.h"
#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("words are separated by one space") {
  Words words("one two three four");
  CHECK(words.next() == "one");
  CHECK(words.next() == "two");
  CHECK_FALSE(words.ended());
  CHECK(words.rest() == "three four");
  CHECK(words.ended());
  CHECK(words.next().empty());
  CHECK(Words("").ended());
  Words trailing("one ");
  CHECK(trailing.next() == "one");
  CHECK_FALSE(trailing.ended());
}

TEST_CASE("numbers are digits only and bounded") {
  const auto number = [](const char* text) { return Words(text).number(); };
  CHECK(number("0") == 0);
  CHECK(number("9007199254740992") == limits::items_max);
  for (const char* wrong :
       {"", "-1", "+1", "1.0", "0x1", "1e3", "9007199254740993", "99999999999999999999", "a", " 1"})
    CHECK_FALSE(number(wrong));
  const auto fraction = [](const char* text) { return Words(text).fraction(1); };
  CHECK(fraction("0.25") == 0.25);
  CHECK(fraction("1") == 1.0);
  CHECK(fraction("1e-3") == 0.001);
  for (const char* wrong : {"", "-0.1", "1.1", "nan", "inf", "0.5x", ".5"}) CHECK_FALSE(fraction(wrong));
  CHECK(Words("3 3").range() == Range{3, 3});
  CHECK_FALSE(Words("4 3").range());
  CHECK_FALSE(Words("4").range());
}
