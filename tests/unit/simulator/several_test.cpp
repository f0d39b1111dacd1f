// Several problems on one fleet: shares as the live server divides them, and what is fair.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "shared/base/random.h"
#include "tests/unit/simulator/run.h"
#include "tools/simulator/fluid.h"
#include "tools/simulator/scenario/scenario.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

// Four hosts of speed 1, two problems of 2000 items each.
GridInstance two_problems(double weight) {
  GridInstance instance;
  instance.hosts.resize(4);
  instance.sizing = "gleaner";
  instance.items = 2000;
  GridProblem other;
  other.items = 2000;
  other.weight = weight;
  instance.more.push_back(other);
  return instance;
}

}  // namespace

TEST_CASE("fair ends: the speed is divided by shares among the problems that are there") {
  GridInstance instance;
  instance.hosts.resize(1);
  instance.items = 10;
  GridProblem other;
  other.items = 10;
  instance.more.push_back(other);
  CHECK(fair_ends(instance)[0] == Approx(20));
  CHECK(fair_ends(instance)[1] == Approx(20));
  instance.more[0].weight = 3;
  CHECK(fair_ends(instance)[0] == Approx(20));
  CHECK(fair_ends(instance)[1] == Approx(40.0 / 3));
  instance.more[0].arrives_at = 4;  // then the first has 6 left, and 3.33 when the second ends at 4 + 13.33
  CHECK(fair_ends(instance)[1] == Approx(4 + 40.0 / 3));
  CHECK(fair_ends(instance)[0] == Approx(20));
  instance.more[0].arrives_at = 100;  // nothing to do in between
  CHECK(fair_ends(instance)[0] == Approx(10));
  CHECK(fair_ends(instance)[1] == Approx(110));
  instance.more[0].weight = 1;
  instance.more[0].priority = 1;
  instance.more[0].arrives_at = 0;
  CHECK(fair_ends(instance)[0] == Approx(20));  // only when nothing of a higher priority is left
  CHECK(fair_ends(instance)[1] == Approx(10));
  instance.hosts[0].events = {{12, HostEventKind::off}};
  CHECK(fair_ends(instance)[0] == std::numeric_limits<double>::infinity());
}

TEST_CASE("two problems share a fleet by their weights") {
  const GridRun even = run(two_problems(1));
  REQUIRE(even.complete);
  REQUIRE(even.problems.size() == 2);
  CHECK(even.counts.accepted == 4000);
  CHECK(even.ideal == Approx(1000));
  CHECK(even.makespan < 1.1 * even.ideal);
  CHECK(even.problems[0].ended_at > 0.8 * even.makespan);
  CHECK(even.problems[1].ended_at > 0.8 * even.makespan);

  const GridRun weighted = run(two_problems(4));
  CHECK(weighted.problems[1].fair_end == Approx(625));
  CHECK(weighted.problems[1].ended_at < 1.15 * weighted.problems[1].fair_end);
  CHECK(weighted.problems[0].ended_at > 0.95 * weighted.problems[0].fair_end);
}

TEST_CASE("hints wrong by a factor of 1,000 either way leave each problem its share over any ten minutes") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    GridInstance instance;
    instance.hosts.resize(60);
    instance.sizing = "gleaner";
    instance.seed = seed;
    instance.sample_seconds = 600;
    instance.give_up_after = 3 * 3600;
    GridProblem problem;  // each would take all hosts more than three hours
    Random random(seed);
    for (const double item_seconds : {0.2, 20.0, 900.0}) {
      problem.items = static_cast<std::int64_t>(60 * 4 * 3600 / item_seconds);
      problem.costs.assign(static_cast<std::size_t>(problem.items), item_seconds);
      problem.hint_costs.clear();
      for (std::int64_t item = 0; item < problem.items; ++item)
        problem.hint_costs.push_back(item_seconds * std::pow(1000, 2 * random.uniform() - 1));
      problem.item_seconds = item_seconds;
      if (item_seconds < 1) {
        static_cast<GridProblem&>(instance) = problem;
      } else {
        instance.more.push_back(problem);
      }
    }
    GridRun got = run(instance);
    std::sort(got.spans.begin(), got.spans.end(), [](const GridSpan& a, const GridSpan& b) {
      return std::tie(a.host, a.from, a.to) < std::tie(b.host, b.from, b.to);
    });
    for (std::size_t i = 1; i < got.spans.size(); ++i) {  // a unit that waited in its slot did not hold it
      GridSpan& span = got.spans[i];
      if (const GridSpan& before = got.spans[i - 1]; before.host == span.host)
        span.from = std::max(span.from, before.to);
    }
    std::vector<std::array<double, 3>> minutes(static_cast<std::size_t>(got.makespan / 60));
    for (const GridSpan& span : got.spans) {
      auto minute = static_cast<std::size_t>(span.from / 60);
      for (; minute < minutes.size() && 60.0 * static_cast<double>(minute) < span.to; ++minute) {
        const double begin = 60.0 * static_cast<double>(minute);
        minutes[minute][span.problem] +=
            std::max(0.0, std::min(span.to, begin + 60) - std::max(span.from, begin));
      }
    }
    for (std::size_t from = 15; from + 10 <= minutes.size(); ++from) {
      INFO("from minute " << from);
      std::array<double, 3> spent{};
      for (std::size_t minute = from; minute < from + 10; ++minute)
        for (std::size_t i = 0; i < 3; ++i) spent[i] += minutes[minute][i];
      for (const double seconds : spent) CHECK(seconds == Approx(60 * 600 / 3.0).epsilon(0.05));
    }
  }
}

TEST_CASE("a problem that is added later starts then, and the fleet waits for it") {
  GridInstance instance = two_problems(1);
  instance.more[0].arrives_at = 2000;
  instance.sample_seconds = 10;
  const GridRun later = run(instance);
  REQUIRE(later.complete);
  CHECK(later.problems[0].ended_at < 600);
  CHECK(later.problems[1].ended_at > 2500);
  CHECK(later.problems[1].ended_at < 2600);
  CHECK(later.ideal == Approx(2500));
  CHECK(later.makespan == later.problems[1].ended_at);
}

TEST_CASE("a single problem may be added later, too") {
  GridInstance instance = two_problems(1);
  instance.more.clear();
  instance.arrives_at = 1000;
  const GridRun later = run(instance);
  CHECK(later.complete);
  CHECK(later.ideal == Approx(1500));
  CHECK(later.makespan > 1500);
  CHECK(later.makespan < 1600);
}

TEST_CASE("several problems through losses, crashes, cuts and restarts: every item once") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    GridInstance instance = two_problems(2);
    instance.seed = seed;
    instance.sizing = seed % 2 == 0 ? "gleaner" : "wis";
    instance.more.push_back(instance.more[0]);
    instance.more[1].costs.assign(2000, 0.25);
    instance.more[1].hints = false;
    instance.more[1].item_seconds = 0.25;
    instance.more[1].arrives_at = 200;
    instance.more[1].priority = 3;
    instance.loss_chance = instance.failure_chance = 0.05;
    instance.restarts = {100, 400};
    instance.hosts[2].events = {{50, HostEventKind::off}, {300, HostEventKind::on}};
    const GridRun got = run(instance);
    CHECK(got.counts.accepted + got.counts.set_aside == 6000);
    CHECK(got.counts.set_aside <= 5);  // items that crashed by chance on two hosts
    CHECK(got.complete == (got.counts.set_aside == 0));
  }
}

TEST_CASE("a scenario's problems are sized each as if alone, and share one unit of work") {
  const auto scenario = read_scenario(R"(
[[problem]]
name = "a"
ideal_hours = 1
item_seconds = 10
[[problem]]
ideal_hours = 0.5
item_seconds = 2
weight = 3
arrives = 60
[[fleet]]
speeds = [1, 2]
)",
                                      "test.toml");
  REQUIRE(scenario.ok());
  CHECK(scenario->problems[0].name == "a");
  CHECK(scenario->problems[1].name == "problem 2");
  auto instance = make_instance(*scenario, 1);
  REQUIRE(instance.ok());
  CHECK(instance->items == 1080);  // 3 slots' worth of an hour
  REQUIRE(instance->more.size() == 1);
  CHECK(instance->more[0].items == 2700);
  CHECK(instance->more[0].costs.front() == Approx(0.2));
  CHECK_FALSE(instance->more[0].hints);
  CHECK(instance->more[0].weight == 3);
  CHECK(fair_ends(*instance)[0] == Approx(5400));
  const auto bad = read_scenario(
      "[[problem]]\nideal_hours = 1\n[[problem]]\nitems = 5\nweight = 0\n[[fleet]]\nspeeds = [1]\n",
      "bad.toml");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().message.find("bad.toml:5: problem.weight") != std::string::npos);
}
