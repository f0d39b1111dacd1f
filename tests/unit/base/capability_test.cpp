#include "shared/base/capability.h"

#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("A need is met by a capability of its name and by the versions that it says") {
  const std::vector<std::string> has{"python 3.11", "numpy 1.24", "pandas"};
  for (const char* need :
       {"python", "python>=3.9", "python>=3.11", "python>=3", "python==3.11", "pandas", "numpy>=1.24"})
    CHECK(is_met(need, has));
  for (const char* need :
       {"python>=3.12", "python>=4", "python==3.1", "python==3", "scipy", "pandas>=1", "numpy>=1.100"})
    CHECK_FALSE(is_met(need, has));
  CHECK(is_met("python>=3.9", std::vector<std::string>{"python 3.8", "python 3.10"}));  // numbers, not digits
  CHECK_FALSE(is_met("python", {}));
}

TEST_CASE("All needs must be met") {
  const std::vector<std::string> has{"python 3.11"};
  CHECK(are_met({}, has));
  CHECK(are_met(std::vector<std::string>{"python>=3.9"}, has));
  CHECK_FALSE(are_met(std::vector<std::string>{"python>=3.9", "numpy"}, has));
}

TEST_CASE("Needs and capabilities that cannot be read are refused, and meet nothing") {
  for (const char* need :
       {"", "Python", "python>3.9", "python=3.9", "python>=", "python>=x", "python>=3.9.1.2", "python>=-3",
        "python >= 3.9", "python>=3.", "python<4", "python>=3.9,<4"}) {
    CAPTURE(need);
    CHECK(parse_need(need).error().kind == ErrorKind::invalid);
    CHECK_FALSE(is_met(need, std::vector<std::string>{"python 3.11"}));
  }
  for (const char* capability :
       {"", "python 3.x", "python  3.11", "Python 3", "python 3.11 numpy", "python 100000.1"}) {
    CAPTURE(capability);
    CHECK(parse_capability(capability).error().kind == ErrorKind::invalid);
    CHECK_FALSE(is_met("python", std::vector<std::string>{capability}));
  }
}

TEST_CASE("Needs are written for people") {
  CHECK(words_of_needs(std::vector<std::string>{"python>=3.9"}) == "Python 3.9 or newer");
  CHECK(words_of_needs(std::vector<std::string>{"python==3.11", "numpy", "scipy>=1.9"}) ==
        "Python 3.11, numpy and scipy 1.9 or newer");
}
