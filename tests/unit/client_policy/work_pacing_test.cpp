#include "client/policy/work_pacing.h"

#include "shared/base/limits.h"
#include "shared/protocol/pacing.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

constexpr SteadyTime begun{1h};

WorkOutcome nothing(double retry_after, bool urgent = true) {
  return {1, 0, urgent, false, retry_after};
}

double wait_of(const WorkPacing& pacing, SteadyTime now) {
  return to_seconds(pacing.busy_at() - now);
}

TEST_CASE("A project without work is asked less often each time, down to once a minute") {
  Random random(1);
  WorkPacing pacing;
  double expected = 5;
  for (int reply = 0; reply < 40; ++reply) {
    pacing.answered(nothing(5), begun, random);
    CHECK(pacing.refused());
    CHECK(pacing.idle_at() == pacing.busy_at());
    CHECK(wait_of(pacing, begun) >= expected - 1e-6);
    CHECK(wait_of(pacing, begun) <= protocol::latest_return(expected) + 1e-6);
    expected = std::min(expected * protocol::rest_growth, protocol::rest_max);
  }
  CHECK(expected == protocol::rest_max);
}

TEST_CASE("A unit, an order or a short wait ends the rest") {
  Random random(2);
  WorkPacing pacing;
  for (int reply = 0; reply < 20; ++reply) pacing.answered(nothing(5), begun, random);
  REQUIRE(wait_of(pacing, begun) > 30);
  WorkOutcome outcome = nothing(5);
  SECTION("a unit for every slot") {
    pacing.answered({1, 1, true, false, 0}, begun, random);
    CHECK_FALSE(pacing.refused());
  }
  SECTION("a unit for one of two slots") {
    pacing.answered({2, 1, true, false, 5}, begun, random);
    CHECK_FALSE(pacing.refused());
  }
  SECTION("an order") {
    outcome.orders = true;
  }
  SECTION("work that others hold") {
    outcome.retry_after_seconds = 1;
  }
  pacing.answered(outcome, begun, random);
  CHECK(wait_of(pacing, begun) <= protocol::latest_return(5) + 1e-6);
}

TEST_CASE("Where an exchange takes long, asking takes a twentieth of the time") {
  Random random(2);
  WorkPacing pacing;
  const auto wait_after = [&](Duration took) {
    WorkOutcome outcome = nothing(0.5);
    outcome.took = took;
    pacing.answered(outcome, begun, random);
    return wait_of(pacing, begun);
  };
  CHECK(wait_after(10ms) <= protocol::latest_return(0.5) + 1e-6);
  CHECK(wait_after(400ms) == Approx(8));
  CHECK(wait_after(1min) == Approx(10));
}

TEST_CASE("A server may name a longer wait than a minute, an hour at most") {
  Random random(3);
  WorkPacing pacing;
  pacing.answered(nothing(600), begun, random);
  pacing.answered(nothing(600), begun, random);
  CHECK(wait_of(pacing, begun) >= 600);
  CHECK(wait_of(pacing, begun) <= protocol::latest_return(600) + 1e-6);
  pacing.answered(nothing(1e9), begun, random);
  CHECK(wait_of(pacing, begun) <= protocol::latest_return(limits::retry_after_seconds_max) + 1e-6);
}

TEST_CASE("A server that gives nothing and names no time is asked as seldom as one that fails") {
  Random random(4);
  WorkPacing pacing;
  Duration longest{0};
  for (int reply = 0; reply < 30; ++reply) {
    pacing.answered(nothing(0), begun, random);
    CHECK(pacing.busy_at() - begun >= 1s);
    longest = std::max<Duration>(longest, pacing.busy_at() - begun);
  }
  CHECK(longest > 1min);
}

TEST_CASE("What a busy slot was refused, an idle one may ask for soon") {
  Random random(5);
  WorkPacing pacing;
  pacing.answered(nothing(30, false), begun, random);
  CHECK_FALSE(pacing.refused());
  CHECK_FALSE(pacing.may_ask(begun, true));
  CHECK(pacing.may_ask(begun + WorkPacing::idle_retry, true));
  CHECK_FALSE(pacing.may_ask(begun + WorkPacing::idle_retry, false));
  CHECK(pacing.may_ask(begun + 34s, false));
  SECTION("an idle slot's refusal holds for all") {
    pacing.answered(nothing(30), begun, random);
    CHECK_FALSE(pacing.may_ask(begun + 29s, true));
    CHECK(pacing.refused());
    pacing.answered(nothing(30, false), begun, random);
    CHECK(pacing.refused());  // it is still without work for idle slots, as far as is known
  }
  pacing.forget(begun);
  CHECK(pacing.may_ask(begun, false));
}

}  // namespace
}  // namespace gleaner::client_policy
