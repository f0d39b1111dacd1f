#include "client/policy/backoff.h"

#include "shared/base/limits.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

TEST_CASE("Backoff stays within its bounds, and its ceiling doubles") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5);
  INFO("seed " << seed);
  Random random(seed);
  const BackoffLimits limits{100ms, 1s, 60s};
  Backoff backoff(limits);
  Duration ceiling = 1s;
  for (int failure = 0; failure < 100; ++failure) {
    const Duration wait = backoff.failed(random);
    CHECK(wait >= limits.least);
    CHECK(wait <= ceiling);
    ceiling = std::min<Duration>(ceiling * 2, limits.most);
  }
}

TEST_CASE("Backoff uses the whole interval: full jitter") {
  Random random(7);
  Duration least = 1h;
  Duration most{0};
  for (int i = 0; i < 2000; ++i) {
    Backoff backoff({1ms, 10s, 10s});
    const Duration wait = backoff.failed(random);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  CHECK(least < 200ms);
  CHECK(most > 9800ms);
}

TEST_CASE("Retry-After is never undercut, and is bounded") {
  Random random(11);
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff;
    const Duration asked{random.between(0, 20'000'000'000)};
    const Duration bounded = std::min<Duration>(asked, std::chrono::seconds{limits::retry_after_seconds_max});
    const Duration wait = backoff.failed(random, asked);
    CHECK(wait >= bounded);
    CHECK(wait <= bounded + bounded / 10 + 1250ms);
  }
}

TEST_CASE("Success starts the backoff anew") {
  Random random(13);
  Backoff backoff({100ms, 1s, 600s});
  for (int i = 0; i < 20; ++i) (void)backoff.failed(random);
  backoff.succeeded();
  CHECK(backoff.failures() == 0);
  CHECK(backoff.failed(random) <= 1s);
}

TEST_CASE("A spread wait is at most a tenth longer, never shorter") {
  Random random(17);
  for (int i = 0; i < 1000; ++i) {
    const Duration wait{random.between(-5, 100'000'000)};
    const Duration waited = spread(random, wait);
    CHECK(waited >= std::max(wait, Duration{0}));
    CHECK(waited <= std::max(wait, Duration{0}) * 11 / 10 + Duration{1});
  }
}

}  // namespace
}  // namespace gleaner::client_policy
