#include "shared/base/clock.h"

#include <cmath>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;

TEST_CASE("times are printed as RFC 3339") {
  CHECK(to_rfc3339(from_microseconds(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(to_rfc3339(from_microseconds(1'795'212'245'123'999)) == "2026-11-20T22:04:05.123Z");
  CHECK(to_rfc3339(from_microseconds(-1)) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("seconds convert both ways and are clamped") {
  CHECK(from_seconds(1.5) == Duration{1'500'000});
  CHECK(to_seconds(Duration{250'000}) == 0.25);
  CHECK(from_seconds(1e300) == from_seconds(1e200));
  CHECK(from_seconds(std::nan("")) == Duration{0});
}

TEST_CASE("seconds are rounded to the microsecond, halves away from zero") {
  const double limit = 100.0 * 365 * 86400;
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    double seconds = std::pow(10, 22 * random.uniform() - 11) * (random.chance(0.5) ? 1 : -1);
    if (i % 4 == 0) seconds = (static_cast<double>(i) - 50'000 + 0.5) * 1e-6;
    REQUIRE(from_seconds(seconds).count() == std::llround(std::clamp(seconds, -limit, limit) * 1e6));
  }
}

TEST_CASE("a calendar jump leaves the steady clock alone") {
  FakeClock clock;
  const auto steady = clock.steady();
  const auto now = clock.now();
  clock.jump_calendar(from_seconds(-3600));
  CHECK(clock.steady() == steady);
  CHECK(clock.now() == now - from_seconds(3600));
  clock.advance(from_seconds(2));
  CHECK(clock.steady() == steady + from_seconds(2));
}
