#include "client/policy/allowance.h"

#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {

constexpr double no_quota = std::numeric_limits<double>::infinity();

TEST_CASE("Without a control group the owner's wish is all there is") {
  CHECK(allow({}, {8, 8, no_quota}).cores == 8);
  const Allowance half = allow({3, 0.5, false}, {8, 8, no_quota});
  CHECK(half.cores == 3);
  CHECK(half.cpu_share == 0.5);
  CHECK(half.limit.empty());
  CHECK(allow({9, 1, false}, {8, 8, no_quota}).cores == 8);
  CHECK(allow({9, 1, true}, {8, 8, no_quota}).cores == 9);  // said for this run
}

TEST_CASE("A quota counts like cores and share") {
  const Allowance third = allow({}, {1, 2, 0.3});
  CHECK(third.cores == 1);
  CHECK(third.cpu_share == Approx(0.3));
  CHECK(third.limit == "this client's control group allows it 0.3 of 2 cores");
  const Allowance more = allow({}, {2, 8, 1.5});
  CHECK(more.cores == 2);
  CHECK(more.cpu_share == Approx(0.75));
  const Allowance fewer = allow({1, 1, false}, {2, 8, 1.5});  // they fit into it
  CHECK(fewer.cores == 1);
  CHECK(fewer.cpu_share == 1);
  CHECK(allow({0, 0.5, false}, {1, 2, 0.3}).cpu_share == Approx(0.15));
  CHECK(allow({4, 1, true}, {1, 2, 0.3}).cores == 1);
}

TEST_CASE("A cpuset leaves fewer cores") {
  const Allowance two = allow({}, {2, 64, no_quota});
  CHECK(two.cores == 2);
  CHECK(two.cpu_share == 1);
  CHECK(two.limit == "this client's control group allows it 2 of 64 cores");
}

}  // namespace
}  // namespace gleaner::client_policy
