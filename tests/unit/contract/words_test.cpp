#include "shared/contract/words.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::contract;

TEST_CASE("last words are the end of what was said") {
  CHECK(last_words("").empty());
  CHECK(last_words(" \n").empty());
  CHECK(last_words("Segmentation\x1b fault\n") == ". Its last words: Segmentation  fault");
  CHECK(last_words(std::string(5000, 'a') + "END").size() < 2100);
  CHECK(last_words(std::string(5000, 'a') + "END").ends_with("aEND"));
}
