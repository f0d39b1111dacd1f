// How many hosts join from one network.
#include "server/service/access/joins.h"

#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace std::chrono_literals;

TEST_CASE("a network's hosts join up to its number, and again as the hour passes") {
  service::Joins joins(10);
  SteadyTime now{};
  for (int i = 0; i < 10; ++i) CHECK(joins.admit("192.0.2.1", now).ok());
  const Status refused = joins.admit("192.0.2.1", now);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "192.0.2.1"));
  CHECK(joins.admit("192.0.2.2", now).ok());
  now += 361s;  // a tenth of an hour
  CHECK(joins.admit("192.0.2.1", now).ok());
  CHECK(!joins.admit("192.0.2.1", now).ok());
  now += std::chrono::hours{10};
  int admitted = 0;
  while (joins.admit("192.0.2.1", now).ok()) ++admitted;
  CHECK(admitted == 10);
}

TEST_CASE("a hundred thousand networks are not remembered, and none of them is refused") {
  service::Joins joins(1);
  for (int i = 0; i < 100'000; ++i) REQUIRE(joins.admit(std::to_string(i), SteadyTime{}).ok());
}
