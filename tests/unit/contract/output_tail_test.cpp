#include "shared/contract/output_tail.h"

#include "shared/base/limits.h"
#include "tests/catch.h"

namespace gleaner::contract {
namespace {

TEST_CASE("what a kernel wrote and logged is kept in the order in which it came") {
  OutputTail tail;
  tail.add("warming up");
  tail.add_log("100 photons");
  tail.add("hot");
  tail.add(", and hotter\n");
  tail.add_log("200 photons");
  CHECK(tail.text() == "warming up\n100 photons\nhot, and hotter\n200 photons\n");
}

TEST_CASE("of much output the end is kept") {
  OutputTail tail;
  for (int line = 0; line < 20'000; ++line) {
    tail.add_log("line " + std::to_string(line));
    REQUIRE(tail.text().size() <= limits::output_bytes_max);
  }
  CHECK(tail.text().ends_with("line 19998\nline 19999\n"));
  CHECK(tail.text().size() > limits::output_bytes_max / 2);
  tail.add(std::string(limits::output_bytes_max + 10, 'x') + "the end");
  CHECK(tail.text().size() == limits::output_bytes_max);
  CHECK(tail.text().ends_with("xthe end"));
}

}  // namespace
}  // namespace gleaner::contract
