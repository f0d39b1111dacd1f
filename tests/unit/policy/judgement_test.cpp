// Host health, verdicts over differing results.
#include "server/policy/host_health.h"
#include "server/policy/verdict.h"
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
