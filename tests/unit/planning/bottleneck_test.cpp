// What limits a tree, in the golden linear programs of shared/planning/PLANNING.md and around them.
#include "shared/planning/bottleneck.h"

#include <limits>

#include "tests/catch.h"

namespace gleaner::planning {
namespace {

using What = Bottleneck::What;

Bottleneck limit_of(const TaskTree& tree, std::size_t part = 0) {
  const auto best = best_throughput(tree);
  REQUIRE(best.ok());
  return bottleneck_of(tree, *best, part);
}

// A parent that computes nothing, a relay that does not either, and its hosts.
TaskTree lab(double down, double up, const std::vector<double>& hosts) {
  constexpr double never = std::numeric_limits<double>::infinity();
  TaskTree tree;
  tree.nodes = {{never, 0, 0, 0}, {never, down, up, 0}};
  for (const double w : hosts) tree.nodes.push_back({w, 0.001, 0.001, 1});
  return tree;
}

}  // namespace

TEST_CASE("golden: G1 and G5 are limited by their CPUs, and nobody is left out", "[bottleneck]") {
  TaskTree g1, g5;
  g1.nodes = {{4, 0, 0, 0}, {2, 1, 1, 0}};
  g5.nodes = {{10, 0, 0, 0}, {5, 1, 1, 0}, {5, 2, 2, 1}};
  for (const auto& [tree, rate] : {std::pair{g1, .75}, std::pair{g5, .5}}) {
    const auto limit = limit_of(tree);
    CHECK(limit.what == What::computing);
    CHECK(limit.rate == Approx(rate).epsilon(1e-6));
    CHECK(limit.computing == Approx(rate).epsilon(1e-6));
    CHECK(limit.left_out.empty());
  }
  const auto under = limit_of(g5, 1);
  CHECK(under.rate == Approx(.4).epsilon(1e-6));
  CHECK(under.what == What::computing);
}

TEST_CASE("golden: G3 and G4 are limited by the root's ports, and G4 leaves its third child out",
          "[bottleneck]") {
  TaskTree g3, g4;
  g3.nodes = {{100, 0, 0, 0}, {.01, 1, 3, 0}, {.01, 3, 1, 0}};
  g4.nodes = {{1e6, 0, 0, 0}, {.01, 1, 4, 0}, {.01, 4, 1, 0}, {.01, 2.6, 2.6, 0}};
  const auto three = limit_of(g3);
  CHECK(three.rate == Approx(.51).epsilon(1e-6));
  CHECK(three.computing == Approx(200.01));
  CHECK(three.what != What::computing);
  CHECK(three.node == 0);
  CHECK(!three.own_link);
  CHECK(three.left_out.empty());
  const auto four = limit_of(g4);
  CHECK(four.rate == Approx(.400001).epsilon(1e-6));
  CHECK(four.what != What::computing);
  CHECK(four.left_out == std::vector<std::size_t>{3});
}

TEST_CASE("golden: the relay of G6 is limited by what its one port receives", "[bottleneck]") {
  TaskTree g6;
  g6.nodes = {{50, 0, 0, 0}, {50, 1, 1, 0}, {2, 1, 1, 1}, {2, 1, 1, 1}};
  const auto limit = limit_of(g6, 1);
  CHECK(limit.rate == Approx(.51).epsilon(1e-6));  // of .53 with the root's own
  CHECK(limit.computing == Approx(1.02));
  CHECK(limit.what != What::computing);
  CHECK(limit.node == 1);
  CHECK(limit.own_link);  // what it gets itself goes on to nobody
  CHECK(limit_of(g6).rate == Approx(.53).epsilon(1e-6));
}

TEST_CASE("a relay's link, each way, and those that are too many for it", "[bottleneck]") {
  const std::vector<double> four(4, 10);
  const auto hosts = limit_of(lab(.1, .1, four), 1);
  CHECK(hosts.what == What::computing);
  CHECK(hosts.rate == Approx(.4));
  const auto up = limit_of(lab(.1, 5, four), 1);
  CHECK(up.what == What::sending);
  CHECK(up.own_link);
  CHECK(up.node == 1);
  CHECK(up.rate == Approx(.2).epsilon(1e-3));
  CHECK(up.computing == Approx(.4));
  CHECK(up.left_out.size() == 2);
  const auto down = limit_of(lab(10, .1, four), 1);
  CHECK(down.what == What::receiving);
  CHECK(down.own_link);
  CHECK(down.rate == Approx(.1).epsilon(1e-3));
  CHECK(down.left_out.size() == 3);
}

TEST_CASE("what limits it may be another's: its parent's ports, or those of a relay under it",
          "[bottleneck]") {
  constexpr double never = std::numeric_limits<double>::infinity();
  TaskTree siblings;
  siblings.nodes = {
      {never, 0, 0, 0}, {never, 1, .1, 0}, {never, .5, .1, 0}, {10, .01, .01, 1}, {.1, .01, .01, 2}};
  const auto slower = limit_of(siblings, 1);  // its sibling's link is better, and takes nearly all
  CHECK(slower.node == 0);
  CHECK(slower.what == What::sending);
  CHECK(slower.rate == Approx(1 - .5 / .51).epsilon(1e-4));
  TaskTree deep;
  deep.nodes = {{never, 0, 0, 0}, {never, .01, .01, 0}, {never, .01, 8, 1}, {1, .01, .01, 2}};
  const auto below = limit_of(deep, 1);
  CHECK(below.node == 2);
  CHECK(below.what == What::sending);
  CHECK(below.own_link);
}

}  // namespace gleaner::planning
