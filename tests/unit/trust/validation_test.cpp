// Validation policies as text.
#include "server/policy/trust/validation.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("every validation policy reads back as it was written") {
  for (const char* text : {"none", "checks", "adaptive", "spot:0.05", "spot:1", "quorum:2", "quorum:5"}) {
    const auto parsed = parse_validation(text);
    REQUIRE(parsed.ok());
    CHECK(text_of(*parsed) == text);
  }
  CHECK(parse_validation("spot:0.25")->spot == 0.25);
  CHECK(parse_validation("quorum:3")->quorum == 3);
}

TEST_CASE("what is no validation policy is refused with what is possible") {
  for (const char* text : {"", "spot", "spot:", "spot:0", "spot:1.5", "spot:-1", "spot:nan", "quorum:1",
                           "quorum:6", "quorum:2x", "quorum:", "Adaptive", "none "}) {
    INFO(text);
    const auto parsed = parse_validation(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().kind == ErrorKind::invalid);
    CHECK(parsed.error().message.find("adaptive") != std::string::npos);
  }
}
