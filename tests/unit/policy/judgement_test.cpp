// Sharing between problems, host health, verdicts over differing results.
#include "server/policy/host_health.h"
#include "server/policy/sharing.h"
#include "server/policy/verdict.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("problems share hosts by weight and priority, and none starves") {
  std::vector<ShareView> views{{ProblemId{1}, 1, 0, 0}, {ProblemId{2}, 2, 0, 0}, {ProblemId{3}, 1, 2, 0}};
  std::vector<int> served(3);
  for (int i = 0; i < 7000; ++i) {
    const auto order = order_by_share(views);
    REQUIRE(order.size() == 3);
    auto& view = views[static_cast<std::size_t>(order.front().value) - 1];
    view.service = charge(view, 1);
    ++served[static_cast<std::size_t>(order.front().value) - 1];
  }
  CHECK(std::abs(served[0] - 1000) <= 2);
  CHECK(std::abs(served[1] - 2000) <= 2);
  CHECK(std::abs(served[2] - 4000) <= 2);
  CHECK(order_by_share(std::vector<ShareView>{{ProblemId{5}, 1, 0, 1}, {ProblemId{4}, 1, 0, 1}}).front() ==
        ProblemId{4});
}

TEST_CASE("a newcomer neither starves the others nor waits") {
  const std::vector<ShareView> views{{ProblemId{1}, 1, 0, 50}, {ProblemId{2}, 1, 0, 70}};
  CHECK(starting_service(views) == 50);
  CHECK(starting_service({}) == 0);
}

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

namespace {

// Opinions by host and by value; equal values agree.
Verdict judged(const std::vector<std::pair<int, int>>& given, int most = 5) {
  std::vector<Opinion> opinions;
  for (const auto& [host, value] : given) opinions.push_back({HostId{host}, SegmentId{1}});
  return judge(
      opinions, [&](std::size_t i, std::size_t j) { return given[i].second == given[j].second; }, most);
}

}  // namespace

TEST_CASE("verdicts") {
  CHECK(judged({{1, 7}, {2, 7}}).kind == VerdictKind::agree);
  CHECK(judged({{1, 7}, {2, 8}}).kind == VerdictKind::need_another);
  const Verdict third = judged({{1, 7}, {2, 8}, {3, 8}});
  CHECK(third.kind == VerdictKind::decided);
  CHECK(third.right == std::vector<std::size_t>{1, 2});
  CHECK(third.wrong == std::vector<std::size_t>{0});
  // One host repeating itself is one opinion.
  CHECK(judged({{1, 7}, {1, 7}, {2, 8}}).kind == VerdictKind::need_another);
  CHECK(judged({{1, 7}, {2, 7}, {3, 8}, {4, 8}}).kind == VerdictKind::need_another);
  CHECK(judged({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}).kind == VerdictKind::undecided);
  CHECK(judged({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 4}}).kind == VerdictKind::decided);
}
