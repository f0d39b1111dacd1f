#include "shared/base/limits.h"
#include "shared/contract/manager_session.h"
#include "tests/unit/contract/scripts.h"

using namespace gleaner;
using namespace gleaner::contract;
using Catch::Contains;

TEST_CASE("hints are a cost and up to 16 numbers a line") {
  const auto hints = parse_hints("1\n0.5 3 -4\n1e3 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", 3);
  if (!hints.ok()) FAIL(hints.error().message);
  REQUIRE(hints->size() == 3);
  CHECK((*hints)[0].cost == 1);
  CHECK((*hints)[1].cost == 0.5);
  CHECK((*hints)[1].parameters == std::vector<std::int64_t>{3, -4});
  CHECK((*hints)[2].parameters.size() == 16);
  CHECK(parse_hints("1\n", 1).ok());
  CHECK(parse_hints("", 0).ok());
}

TEST_CASE("wrong hints are named by line") {
  const auto message = [](const std::string& text, std::int64_t items) {
    return parse_hints(text, items).error().message;
  };
  CHECK_THAT(message("1\n\n", 2), Contains("line 2: expected a cost above 0"));
  CHECK_THAT(message("1\n0\n", 2), Contains("line 2: expected a cost above 0"));
  CHECK_THAT(message("nan\n", 1), Contains("line 1"));
  CHECK_THAT(message("-1\n", 1), Contains("line 1"));
  CHECK_THAT(message("1 2.5\n", 1), Contains("whole numbers"));
  CHECK_THAT(message("1  2\n", 1), Contains("whole numbers"));
  CHECK_THAT(message("1 --2\n", 1), Contains("whole numbers"));
  CHECK_THAT(message("1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", 1), Contains("more than 16"));
  CHECK_THAT(message("1\n1\n", 1), Contains("line 2: too many lines"));
  CHECK_THAT(message("1\n1\n", 3),
             Contains("ends after line 2; there must be one line for each of the 3 items"));
  CHECK(parse_hints("1\n", limits::hinted_items_max + 1).error().kind == ErrorKind::too_large);
  CHECK_FALSE(parse_hints("1\n", -1).ok());
}

TEST_CASE("a hints file that is not there is named") {
  Scripts scripts;
  CHECK_FALSE(read_hints(scripts.work() / "none", 3).ok());
  scripts.write(scripts.work() / "hints", "1\n2\n");
  CHECK(read_hints(scripts.work() / "hints", 2)->at(1).cost == 2);
  CHECK_THAT(read_hints(scripts.work() / "hints", 3).error().message, Contains("hints file"));
}
