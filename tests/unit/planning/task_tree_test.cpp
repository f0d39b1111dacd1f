// The best rate of trees of relays: the golden linear programs of shared/planning/PLANNING.md, and what any
// solution keeps.
#include "shared/planning/task_tree.h"

#include <numeric>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::planning {
namespace {

TaskTree star(const std::vector<double>& w, const std::vector<double>& c, const std::vector<double>& up) {
  TaskTree tree;
  tree.nodes.push_back({w[0], 0, 0, 0});
  for (std::size_t i = 1; i < w.size(); ++i) tree.nodes.push_back({w[i], c[i - 1], up[i - 1], 0});
  return tree;
}

double rate_of(const TaskTree& tree) {
  const auto best = best_throughput(tree);
  REQUIRE(best.ok());
  CHECK(std::accumulate(best->own.begin(), best->own.end(), 0.0) == Approx(best->rate).epsilon(1e-8));
  return best->rate;
}

}  // namespace

TEST_CASE("golden linear programs G1 to G6", "[throughput]") {
  CHECK(rate_of(star({4, 2}, {1}, {1})) == Approx(0.75).epsilon(1e-6));
  CHECK(rate_of(star({100, 0.01, 0.01}, {1, 3}, {3, 1})) == Approx(0.51).epsilon(1e-6));
  const TaskTree g4 = star({1e6, 0.01, 0.01, 0.01}, {1, 4, 2.6}, {4, 1, 2.6});
  CHECK(rate_of(g4) == Approx(0.400001).epsilon(1e-6));
  const auto pair = best_throughput(g4);  // children 1 and 2 together fill both ports; 3 is not used
  CHECK(pair->passed[1] == Approx(0.2).epsilon(1e-6));
  CHECK(pair->passed[2] == Approx(0.2).epsilon(1e-6));
  CHECK(pair->passed[3] == Approx(0).margin(1e-9));
  TaskTree chain;
  chain.nodes = {{10, 0, 0, 0}, {5, 1, 1, 0}, {5, 2, 2, 1}};
  CHECK(rate_of(chain) == Approx(0.5).epsilon(1e-6));
  TaskTree relay;
  relay.nodes = {{50, 0, 0, 0}, {50, 1, 1, 0}, {2, 1, 1, 1}, {2, 1, 1, 1}};
  CHECK(rate_of(relay) == Approx(0.53).epsilon(1e-6));
  CHECK(rate_of(star({8}, {}, {})) == Approx(0.125));
}

TEST_CASE("solutions keep the ports' time and pass what they compute", "[throughput][random]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    TaskTree tree;
    tree.nodes.push_back({1 + random.exponential(20), 0, 0, 0});
    for (auto left = random.between(0, 20); left > 0; --left)
      tree.nodes.push_back({1 + random.exponential(20), 0.1 + random.exponential(3), random.exponential(3),
                            random.below(tree.nodes.size())});
    const auto best = best_throughput(tree);
    REQUIRE(best.ok());
    const auto children = tree.children();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      double sends = best->passed[i] * tree.nodes[i].result_up;
      double receives = best->passed[i] * tree.nodes[i].task_down;
      double flow = best->own[i];
      for (const auto child : children[i]) {
        sends += best->passed[child] * tree.nodes[child].task_down;
        receives += best->passed[child] * tree.nodes[child].result_up;
        flow += best->passed[child];
      }
      CHECK(sends <= 1 + 1e-7);
      CHECK(receives <= 1 + 1e-7);
      CHECK(best->own[i] <= 1 / tree.nodes[i].compute + 1e-9);
      if (i > 0) CHECK(flow == Approx(best->passed[i]).margin(1e-8));
    }
    CHECK(best->rate >= 1 / tree.nodes[0].compute - 1e-9);
    const RoundRobinPeriod period = round_robin_period(tree, *best);
    CHECK(period.bunch[0] == std::accumulate(period.own.begin(), period.own.end(), std::int64_t{0}));
  }
}

TEST_CASE("round robin's period", "[throughput]") {
  const TaskTree tree = star({20, 50}, {1}, {1});
  const auto best = best_throughput(tree);
  const RoundRobinPeriod period = round_robin_period(tree, *best);
  CHECK(period.seconds == 1000);  // log10(0.05) rounds down to -2
  CHECK(period.own == std::vector<std::int64_t>{50, 20});
  CHECK(period.bunch == std::vector<std::int64_t>{70, 20});
  CHECK(round_robin_period(tree, {200, {200, 3}, {0, 3}}).seconds == 100);
}

}  // namespace gleaner::planning
