#include "server/service/core/host_day.h"

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::service {
namespace {
using namespace std::chrono_literals;

constexpr Timestamp day_noon{std::chrono::hours{24 * 365 * 56 + 12}};

TEST_CASE("a host's day has the mean of each hour, the last one last") {
  HostDay day;
  CHECK(day.percents(day_noon).empty());
  day.add(day_noon, 0.2);
  day.add(day_noon + 59min, 0.4);
  day.add(day_noon + 1h, 1.7);  // at most the whole
  day.add(day_noon + 4h, 0);
  const std::vector<int> told = day.percents(day_noon + 5h);
  REQUIRE(told.size() == 24);
  CHECK(std::vector<int>(told.end() - 7, told.end()) == std::vector<int>{-1, 30, 100, -1, -1, 0, -1});
  CHECK(day.percents(day_noon + 27h).front() == 0);
  CHECK(day.percents(day_noon + 28h).empty());
}

TEST_CASE("a clock that is set back begins a host's day anew") {
  HostDay day;
  day.add(day_noon, 0.5);
  CHECK(day.percents(day_noon - 2h).empty());
  day.add(day_noon - 2h, 0.25);
  CHECK(day.percents(day_noon - 2h).back() == 25);
  CHECK(day.percents(day_noon).back() == HostDay::unknown);
}

TEST_CASE("a host's day is that of a plain list of its reports") {
  Random random(11);
  HostDay day;
  std::vector<std::pair<Timestamp, double>> reports;
  Timestamp now = day_noon;
  for (int i = 0; i < 3000; ++i) {
    now += std::chrono::seconds{random.between(1, random.chance(0.02) ? 90'000 : 900)};
    const double cpu = random.uniform();
    day.add(now, cpu);
    reports.emplace_back(now, cpu);
    const std::vector<int> told = day.percents(now);
    REQUIRE(told.size() == 24);
    const auto hour = std::chrono::floor<std::chrono::hours>(now);
    for (int back = 0; back < 24; ++back) {
      double sum = 0;
      int count = 0;
      for (auto each = reports.rbegin(); each != reports.rend() && each->first >= hour - 24h; ++each)
        if (std::chrono::floor<std::chrono::hours>(each->first) == hour - std::chrono::hours{back}) {
          sum += each->second;
          ++count;
        }
      const int at = told[static_cast<std::size_t>(23 - back)];
      if (count == 0)
        CHECK(at == HostDay::unknown);
      else
        CHECK(std::abs(at - 100 * sum / count) < 0.51);
    }
  }
}

}  // namespace
}  // namespace gleaner::service
