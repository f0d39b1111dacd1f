// Scenario files: what is read, and what is said where they are wrong.
#include "tools/simulator/scenario/scenario.h"

#include "tests/catch.h"
#include "tools/simulator/scenario/experiment.h"
#include "tools/simulator/scenario/statistics.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

const std::string small = R"(name = "small"
[problem]
items = 500
item_seconds = 2
[[fleet]]
speeds = [4, 2, 1]
slots = 2
[network]
request_delay = 0.1
)";

std::string mistakes(const std::string& text, const std::vector<Override>& overrides = {}) {
  const auto scenario = read_scenario(text, "s.toml", overrides);
  return scenario.ok() ? "" : scenario.error().message;
}

}  // namespace

TEST_CASE("a scenario is read, overridden and run") {
  const auto scenario =
      read_scenario(small, "s.toml", {{"problem.items", "200"}, {"server.strategy", "mis"}});
  REQUIRE(scenario.ok());
  CHECK(scenario->items == 200);
  CHECK(scenario->strategy == "mis");
  const auto instance = make_instance(*scenario, 1);
  REQUIRE(instance.ok());
  CHECK(instance->hosts.size() == 3);
  CHECK(instance->ideal_seconds == Approx(200 * 2 / 14.0));
  Experiment experiment{*scenario, {{"wis", "split"}, {"static", "none"}}, 3, 5, 2, 1};
  const auto outcomes = run_experiment(experiment);
  REQUIRE(outcomes.ok());
  REQUIRE(outcomes->size() == 6);
  for (const Outcome& outcome : *outcomes) {
    CHECK(outcome.complete);
    CHECK(outcome.ratio >= 1);
    CHECK(outcome.speedup == Approx(400 / outcome.makespan));
    CHECK(outcome.efficiency == Approx(outcome.speedup / 14));
  }
  CHECK((*outcomes)[4].seed == 4);
  CHECK((*outcomes)[4].variant == 1);
  // Threads change nothing.
  experiment.threads = 1;
  const auto again = run_experiment(experiment);
  REQUIRE(again.ok());
  for (std::size_t i = 0; i < 6; ++i) CHECK((*again)[i].makespan == (*outcomes)[i].makespan);
}

TEST_CASE("every mistake of a scenario is named with file, line, key and what was expected") {
  CHECK(mistakes(small).empty());
  CHECK(mistakes("[problem]\nitems = 0\n[[fleet]]\nspeeds = [1]\n") ==
        "s.toml:2: problem.items: expected a whole number from 1 to 1000000000, got 0");
  CHECK(mistakes(
            "[problem]\nideal_hours = 2\nprofile = \"bump\"\n[[fleet]]\nhosts = 3\nmix = { lab = 0.5 }\n") ==
        "s.toml:3: problem.profile: there is no profile 'bump'; choose uniform, hump, heavy, wild or tail\n"
        "s.toml:6: fleet.mix: its shares have to add up to 1, not 0.5");
  CHECK(mistakes(small + "delay = 1\n")
            .find("s.toml:10: network.delay: there is no such key; expected one of request_delay,") == 0);
  CHECK(
      mistakes("start = \"monday\"\n" + small).find("s.toml:1: start: expected a time like \"mon 10:00\"") ==
      0);
  CHECK(mistakes("[problem\n").find("s.toml:1: ") == 0);
  CHECK(mistakes("").find("problem: expected a table [problem]") != std::string::npos);
  CHECK(mistakes("").find("fleet: expected one or more tables [[fleet]]") != std::string::npos);
  CHECK(mistakes(small, {{"network.request_delay", "-1"}}) ==
        "--set network.request_delay=-1: network.request_delay: expected a number from 0 to 3600, got -1");
  CHECK(mistakes(small, {{"server.strategy", "nonsense"}})
            .find("--set server.strategy=nonsense: server.strategy: ") == 0);
}

TEST_CASE("means have Student's interval") {
  const Mean mean = mean_of(std::vector<double>{1, 2, 3, 4});
  CHECK(mean.mean == Approx(2.5));
  CHECK(mean.half == Approx(3.182 * std::sqrt(5.0 / 3 / 4)));
  CHECK(student_t(30) == Approx(2.042));
  CHECK(student_t(31) == Approx(2.0395).epsilon(0.001));
  CHECK(student_t(1000) == Approx(1.9623).epsilon(0.001));
}
