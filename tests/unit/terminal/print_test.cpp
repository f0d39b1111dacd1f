#include "shared/terminal/print.h"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "tests/catch.h"

namespace gleaner::terminal {
namespace {

// What was written to a file.
std::string written(const std::function<void(std::FILE*)>& to) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  to(file);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("What is printed holds nothing that a terminal obeys", "[terminal]") {
  const auto text = written([](std::FILE* to) {
    print(to, "title {}\nname {}\n", "\x1b]0;owned\x07",
          "a\xE2\x80\xAE"
          "b\xFF");
  });
  CHECK(text == "title  ]0;owned \nname a b\xEF\xBF\xBD\n");
}

TEST_CASE("Our own tints stay where a terminal shows them, and nothing else", "[terminal]") {
  const std::string tinted = "\x1b[31mbad\x1b[0m";
  CHECK(shown(tinted, Tints::yes) == tinted);
  CHECK(shown(tinted, Tints::no) == " [31mbad [0m");
  CHECK(shown("\x1b[1A\x1b[2K\x1b[8m\x1b[1m!\x1b[0m\x1b", Tints::yes) == " [1A [2K [8m\x1b[1m!\x1b[0m ");
}

TEST_CASE("The standard streams are cleaned, however text reaches them", "[terminal]") {
  std::ostringstream plain;
  plain << Control{"\x1b[1A"};
  CHECK(plain.str() == "\x1b[1A");  // a stream of a test's

  std::FILE* const before = stdout;
  std::FILE* const file = std::tmpfile();
  stdout = file;
  auto* const buffer = std::cout.rdbuf();
  clean_streams();
  std::cout << "caf\xC3" << '\xA9' << " \x1b[2J" << 7 << '\n' << Control{"\x1b[1A"} << "end" << std::flush;
  delete std::cout.rdbuf(buffer);
  stdout = before;
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  CHECK(text ==
        "caf\xC3\xA9  [2J7\n\x1b[1A"
        "end");
}

}  // namespace gleaner::terminal
