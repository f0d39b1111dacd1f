// What hosts' results have proved to be worth.
#include "server/policy/trust/reputation.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr HostId host{1}, other{2};
constexpr ApplicationId app{1}, other_app{2};
const Timestamp start = Timestamp{} + std::chrono::hours{1000};

}  // namespace

TEST_CASE("a reliability is the posterior mean of what was verified") {
  Reputation reputation;
  CHECK(reputation.reliability(host, app, start) == Approx(0.9));
  reputation.verified(host, app, 90, start);
  CHECK(reputation.reliability(host, app, start) == Approx(99.0 / 100));
  CHECK(reputation.reliability(host, other_app, start) == Approx(0.9));  // each application for itself
  CHECK(reputation.reliability(other, app, start) == Approx(0.9));
  reputation.found_wrong(host, app, start);  // what was right before is forgotten
  CHECK(reputation.reliability(host, app, start) == Approx(9.0 / 11));
}

TEST_CASE("evidence fades") {
  Reputation reputation;
  reputation.verified(host, app, 100, start);
  const Timestamp later = start + from_seconds(reputation.rules().half_life);
  CHECK(reputation.standing(host, app, later).right == Approx(50));
  reputation.verified(host, app, 10, later);
  CHECK(reputation.standing(host, app, later).right == Approx(60));
  CHECK(reputation.standing(host, app, start).right == Approx(60));  // a clock that went back changes nothing
}

TEST_CASE("who is found wrong is kept from the application, longer each time") {
  Reputation reputation;
  Timestamp now = start;
  double before = 0;
  for (int time = 0; time < 20; ++time) {
    reputation.found_wrong(host, app, now);
    reputation.found_wrong(host, app, now);  // of the same deliveries: no second time
    const auto held = reputation.held(host, app, now);
    REQUIRE(held.has_value());
    CHECK(*held >= before * 0.999);
    CHECK(*held <= reputation.rules().longest_hold);
    before = std::min(*held, reputation.rules().longest_hold / 2);  // what was wrong fades, too
    CHECK_FALSE(reputation.held(host, other_app, now).has_value());
    now += from_seconds(*held);
    CHECK_FALSE(reputation.held(host, app, now).has_value());
  }
  CHECK(before > reputation.rules().first_hold * 50);
}

TEST_CASE("the project's own hosts are believed") {
  Reputation reputation;
  reputation.set_own(host, true);
  CHECK(reputation.reliability(host, app, start) == reputation.rules().own);
  CHECK(reputation.is_own(host));
  reputation.found_wrong(host, app, start);  // until one is found wrong
  CHECK_FALSE(reputation.is_own(host));
  CHECK(reputation.held(host, app, start).has_value());
}

TEST_CASE("a standing that was stored goes on") {
  Reputation first, second;
  first.verified(host, app, 30, start);
  first.found_wrong(host, app, start);
  const Standing stored = first.verified(host, app, 5, start);
  second.restore(host, app, stored);
  CHECK(second.standing(host, app, start) == first.standing(host, app, start));
  CHECK(*second.held(host, app, start) == Approx(*first.held(host, app, start)));
  second.forget_host(host);
  CHECK(second.reliability(host, app, start) == Approx(0.9));
}
