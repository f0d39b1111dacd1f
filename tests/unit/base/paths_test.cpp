#include "shared/base/paths.h"

#include "tests/catch.h"

namespace gleaner {
namespace {

TEST_CASE("Text becomes a path and text again, whatever is in it") {
  for (const std::string text :
       {"", "a", "/home/J\xC3\xBCrgen/\xE6\x97\xA5\xE6\x9C\xAC", "relative/../name.", "a b\tc"})
    CHECK(utf8_text(utf8_path(text)) == text);
  CHECK(utf8_path("d\xC3\xA9p\xC3\xB4t") == std::filesystem::path(u8"dépôt"));
  CHECK(utf8_text(utf8_path("x") / utf8_path("\xC3\xA4")) == "x/\xC3\xA4");
}

TEST_CASE("Linux's names that are no UTF-8 keep their bytes") {
  CHECK(utf8_text(utf8_path("old-\xFC-latin")) == "old-\xFC-latin");
}

TEST_CASE("A suffix is of the last name") {
  CHECK(with_suffix("a/log", ".new") == std::filesystem::path("a/log.new"));
  CHECK(with_suffix("a", "\xC3\xA4") == std::filesystem::path(u8"aä"));
}

}  // namespace
}  // namespace gleaner
