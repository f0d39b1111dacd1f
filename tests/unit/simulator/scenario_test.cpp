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
  CHECK(scenario->problems.front().items == 200);
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

TEST_CASE("a problem's costs may come from a file") {
  const std::string text = "[problem]\ncosts = \"c.txt\"\nitem_seconds = 2\n[[fleet]]\nspeeds = [1]\n";
  std::string file = "1\n3.5\n0.5\n\n3e0\n";
  const auto read_file = [&](const std::string& name) -> Result<std::string> {
    CHECK(name == "c.txt");
    return file;
  };
  const auto scenario = read_scenario(text, "s.toml", {}, read_file);
  REQUIRE(scenario.ok());
  CHECK(scenario->problems.front().items == 4);
  const auto instance = make_instance(*scenario, 1);
  REQUIRE(instance.ok());
  CHECK(instance->costs == std::vector<double>{0.5, 1.75, 0.25, 1.5});
  CHECK(instance->hint_costs == instance->costs);
  CHECK(instance->hosts[0].speed == 0.5);
  const auto blind = read_scenario(text, "s.toml", {{"problem.hints", "false"}}, read_file);
  REQUIRE(blind.ok());
  CHECK_FALSE(make_instance(*blind, 1)->hints);
  const auto twice = read_scenario(text, "s.toml", {{"problem.items", "4"}}, read_file);
  CHECK(twice.error().message.find("s.toml:2: problem.costs: the file says how many items") == 0);
  file = "1 2\n3 2\n";
  const auto hinted = read_scenario(text, "s.toml", {}, read_file);
  REQUIRE(hinted.ok());
  CHECK(make_instance(*hinted, 1)->costs == std::vector<double>{0.5, 1.5});
  CHECK(make_instance(*hinted, 1)->hint_costs == std::vector<double>{1, 1});
  file = "1\n3 2\n";
  CHECK(read_scenario(text, "s.toml", {}, read_file).error().message ==
        "s.toml:2: problem.costs: c.txt:2: expected one number as on the lines before, got \"3 2\"");
  for (const char* wrong : {"0", "-1", "a", "1 x", "inf", "nan"}) {
    file = std::string("1\n") + wrong + "\n";
    CHECK(read_scenario(text, "s.toml", {}, read_file).error().message ==
          std::string("s.toml:2: problem.costs: c.txt:2: expected a number above 0, got \"") +
              (std::string(wrong) == "1 x" ? "x" : wrong) + "\"");
  }
  file = "\n";
  CHECK(read_scenario(text, "s.toml", {}, read_file).error().message ==
        "s.toml:2: problem.costs: c.txt:1: expected a number above 0, the file has none");
  CHECK(mistakes("[problem]\nitems = 3\nhints = true\n[[fleet]]\nspeeds = [1]\n")
            .find("s.toml:3: problem.hints: expected together with costs") == 0);
}

TEST_CASE("rules can be set") {
  const auto scenario =
      read_scenario(small, "s.toml", {{"server.rules.park", "3.5"}, {"server.rules.holders_max", "2"}});
  REQUIRE(scenario.ok());
  CHECK(scenario->rules.park == 3.5);
  CHECK(scenario->rules.holders_max == 2);
}

TEST_CASE("listed hosts may have benchmarks that say something else than their speeds") {
  const auto scenario = read_scenario(small, "s.toml",
                                      {{"fleet.benchmarks", "[900, 500, 250]"},
                                       {"fleet.joins", "[0, 5, 7]"},
                                       {"fleet.queues", "[1, 2, 3]"},
                                       {"server.knows_benchmark", "false"}});
  REQUIRE(scenario.ok());
  const auto instance = make_instance(*scenario, 1);
  REQUIRE(instance.ok());
  CHECK(instance->hosts[1].speed == 1);  // items of 2 s
  CHECK(instance->hosts[1].performance == 500);
  CHECK(instance->hosts[1].joins_at == 5);
  CHECK(instance->hosts[1].queue == 2);
  CHECK_FALSE(instance->benchmark_known);
  CHECK(make_instance(*read_scenario(small, "s.toml"), 1)->benchmark_known);
  CHECK(mistakes(small, {{"fleet.cuts", "[1, 2, 3]"}}).find("fleet.cuts: expected seconds in pairs") !=
        std::string::npos);
  CHECK(mistakes(small, {{"fleet.outages", "[5, 4]"}}).find("fleet.outages: expected seconds in pairs") !=
        std::string::npos);
  CHECK(mistakes(small, {{"fleet.outage_gap", "50"}}).find("expected both outage_gap and outage_length") !=
        std::string::npos);
  CHECK(mistakes(small, {{"fleet.benchmarks", "[1]"}}).find("fleet.benchmarks: expected as many as") !=
        std::string::npos);
}

TEST_CASE("means have Student's interval") {
  const Mean mean = mean_of(std::vector<double>{1, 2, 3, 4});
  CHECK(mean.mean == Approx(2.5));
  CHECK(mean.half == Approx(3.182 * std::sqrt(5.0 / 3 / 4)));
  CHECK(student_t(30) == Approx(2.042));
  CHECK(student_t(31) == Approx(2.0395).epsilon(0.001));
  CHECK(student_t(1000) == Approx(1.9623).epsilon(0.001));
}
