// How hosts that fail are held back.
#include "server/policy/host_health.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("a failing host is held back for doubling times, up to six hours, and forgiven after a success") {
  const Timestamp now{std::chrono::hours{1000}};
  HostHealth health;
  CHECK_FALSE(blocked_for(health, now));
  for (const double seconds : {30.0, 60.0, 120.0, 240.0}) {
    health = after_failure(health, "crashed", now);
    CHECK(*blocked_for(health, now) == Approx(seconds));
  }
  for (int i = 0; i < 100; ++i) health = after_failure(health, "crashed", now);
  CHECK(*blocked_for(health, now) == Approx(6 * 3600));
  CHECK(health.reason == "crashed");
  CHECK_FALSE(blocked_for(health, now + std::chrono::hours{6}));
  health = after_success(health);
  CHECK_FALSE(blocked_for(health, now));
  CHECK(health.failures == 104);
  CHECK(*blocked_for(after_failure(health, "again", now), now) == Approx(30));
}

TEST_CASE("a hold that a wrong calendar made ends with that calendar") {
  const Timestamp now{std::chrono::hours{100'000}};
  const HostHealth ahead = after_failure({}, "crashed", now + std::chrono::hours{24 * 150});
  CHECK_FALSE(blocked_for(ahead, now));
}
