#include "shared/contract/output_tail.h"

#include "shared/base/limits.h"
#include "tests/catch.h"

namespace gleaner::contract {
namespace {

TEST_CASE("what a kernel wrote and logged is kept in the order in which it came") {
  OutputTail tail;
  tail.add_errors("warming up", 10);
  tail.add_log("100 photons");
  tail.add_errors("warming up\nhot", 14);  // all of it so far, as standard error's end is told
  CHECK(tail.text() == "warming up\n100 photons\n\nhot");
  tail.add_errors("warming up\nhot", 14);
  CHECK(tail.errors_seen() == 14);
  CHECK(tail.text().ends_with("\n\nhot"));
}

TEST_CASE("of much output the end is kept, also where standard error's end has lost some of it") {
  OutputTail tail;
  tail.add_errors("the end", 1'000'000);
  CHECK(tail.text() == "the end");
  for (int line = 0; line < 20'000; ++line) {
    tail.add_log("line " + std::to_string(line));
    REQUIRE(tail.text().size() <= limits::output_bytes_max);
  }
  CHECK(tail.text().ends_with("line 19998\nline 19999\n"));
  CHECK(tail.text().size() > limits::output_bytes_max / 2);
}

}  // namespace
}  // namespace gleaner::contract
