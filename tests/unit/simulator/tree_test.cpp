// Trees of relays in virtual time: the gates of shared/planning/PLANNING.md.
#include "tools/papers/tree.h"

#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "tools/papers/tree_study.h"

namespace gleaner::simulator {
namespace {

#ifdef GLEANER_SANITIZED
constexpr int trees = 3;
#else
constexpr int trees = 50;
#endif

TreeInstance instance_of(const planning::TaskTree& tree, const std::string& rule, std::int64_t tasks) {
  TreeInstance instance;
  instance.tree = tree;
  instance.speeds = steady_speeds(tree.nodes.size());
  auto best = planning::best_throughput(tree);
  REQUIRE(best.ok());
  instance.best = std::move(best).value();
  instance.rule = rule;
  instance.tasks = tasks;
  return instance;
}

TreeRun run(const TreeInstance& instance) {
  auto done = run_tree(instance);
  REQUIRE(done.ok());
  INFO(done->fault);
  CHECK(done->complete);
  return std::move(done).value();
}

TreeStudy study(std::size_t scenario, const std::string& rule) {
  auto done = study_trees(tree_scenarios()[scenario], rule, 1, trees);
  REQUIRE(done.ok());
  return std::move(done).value();
}

}  // namespace

TEST_CASE("one node computes alone; one child by hand", "[tree]") {
  planning::TaskTree tree;
  tree.nodes.push_back({2, 0, 0, 0});
  CHECK(run(instance_of(tree, "bc", 5)).finish == 10);
  // The master takes a task (done at 2) and sends one (at the child at 1, computed at 5, back at 5.5).
  tree.nodes.push_back({4, 1, 0.5, 0});
  const TreeRun two = run(instance_of(tree, "fifo", 2));
  CHECK(two.results_at == std::vector<double>{2, 5.5});
  CHECK(two.computed == std::vector<std::int64_t>{1, 1});
  CHECK(run_tree(instance_of(tree, "best", 2)).error().kind == ErrorKind::invalid);
}

TEST_CASE("a master that is too slow does not take a task that it alone would finish", "[tree]") {
  planning::TaskTree tree;
  tree.nodes = {{1e6, 0, 0, 0}, {0.01, 1, 4, 0}, {0.01, 4, 1, 0}, {0.01, 2.6, 2.6, 0}};
  // G4: steady rates relative to the optimum.
  for (const auto& [rule, least, most] : {std::tuple{"geo", 0.995, 1.001}, std::tuple{"otf", 0.995, 1.001},
                                          std::tuple{"fifo", 0.97, 1.0}, std::tuple{"bc", 0.95, 0.97}}) {
    const TreeInstance instance = instance_of(tree, rule, 4000);
    const double rate = run(instance).rate_at(0.9) / instance.best.rate;
    INFO(rule);
    CHECK(rate > least);
    CHECK(rate < most);
  }
}

TEST_CASE("no rule beats the linear program, none loses a task", "[tree][random]") {
  const std::vector<std::string> rules{"fifo", "otf", "bc", "geo", "round-robin"};
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(trees); ++seed) {
    for (const double ratio : {1000.0, 1.0}) {
      INFO("seed " << seed << " t/r " << ratio);
      const TreeInstance instance =
          instance_of(random_task_tree(seed, ratio), rules[seed % rules.size()], 600);
      const TreeRun done = run(instance);
      bool within = true;
      for (std::size_t i = 0; i < done.results_at.size(); ++i)
        within =
            within && static_cast<double>(i + 1) <= instance.best.rate * done.results_at[i] * (1 + 1e-9) + 1;
      CHECK(within);
      CHECK(done.largest_threshold >= 1);
      CHECK(run(instance).results_at == done.results_at);  // the same again
    }
  }
}

TEST_CASE("with equal ways down and up geo serves as bc does", "[tree][random]") {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    INFO("seed " << seed);
    planning::TaskTree tree = random_task_tree(seed, 1);
    for (auto& node : tree.nodes) node.result_up = node.task_down;
    TreeInstance instance = instance_of(tree, "bc", 500);
    instance.keep_trace = true;
    const TreeRun bc = run(instance);
    instance.rule = "geo";
    CHECK(run(instance).trace == bc.trace);
    CHECK_FALSE(bc.trace.empty());
  }
}

TEST_CASE("a capped threshold stays below its cap", "[tree]") {
  TreeInstance instance = instance_of(random_task_tree(3, 1000), "bc", 600);
  instance.threshold_max = 3;
  CHECK(run(instance).largest_threshold <= 3);
  instance.threshold_max = 1;
  CHECK(run(instance).largest_threshold == 1);
}

TEST_CASE("speeds that change: work is integrated over the levels", "[tree]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const SpeedCycle cycle(random, 3);
    const double start = random.uniform() * 200, work = random.uniform() * 100;
    const double end = cycle.end_of(start, work);
    double done = 0;
    constexpr int steps = 20'000;
    for (int i = 0; i < steps; ++i) done += cycle.at(start + (end - start) * (i + 0.5) / steps);
    INFO("seed " << seed);
    CHECK(done * (end - start) / steps == Approx(work).epsilon(0.01).margin(0.01));
  }
  CHECK(SpeedCycle().end_of(3, 4) == 7);
  for (const char* rule : {"fifo", "otf", "bc", "geo", "round-robin"})
    CHECK(score_tree(tree_scenarios()[3], rule, 5).ok());
}

TEST_CASE("a linear program on which the simplex method goes round in circles is solved another way",
          "[tree]") {
  CHECK(score_tree(tree_scenarios()[2], "fifo", 51).ok());
}

TEST_CASE("acceptance: static trees, BC near the optimum, Geo better where results are large", "[tree]") {
  const TreeStudy bc_small = study(0, "bc"), geo_small = study(0, "geo");
  CHECK(bc_small.mean().at_90 >= 0.93);
  CHECK(std::abs(paired(geo_small, bc_small).mean) < 0.005);
#ifndef GLEANER_SANITIZED
  CHECK(paired(study(1, "geo"), study(1, "bc")).mean > 0);
#endif
}

}  // namespace gleaner::simulator
