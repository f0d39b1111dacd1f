// What must hold for plans of any tree: the invariants of shared/planning/PLANNING.md.
#include <cmath>
#include <numeric>

#include "shared/planning/optimum.h"
#include "shared/planning/plan.h"
#include "shared/planning/single_installment.h"
#include "tests/catch.h"
#include "tests/unit/planning/trees.h"

namespace gleaner::planning {
namespace {

#ifdef GLEANER_SANITIZED
constexpr std::uint64_t many = 500, some = 60;
#else
constexpr std::uint64_t many = 10'000, some = 1500;
#endif

const TreeBounds wide{12, 0.3, 6, 0.02, 1.5};

void check_shares(const std::vector<double>& shares) {
  for (const double share : shares) CHECK(share >= 0);
  CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1).epsilon(1e-9));
}

}  // namespace

TEST_CASE("SOS: the full-duplex replay is the closed form; pruning never hurts", "[plans][random]") {
  for (std::uint64_t seed = 1; seed <= many; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const LoadTree tree = random_tree(random, wide);
    LoadCost cost = random_cost(random);
    cost.duplex = Duplex::full;
    const SequentialPlan sos = plan_sequential(tree, cost, Prune::none);
    const SequentialPlan pruned = plan_sequential(tree, cost, Prune::greedy);
    check_shares(sos.shares);
    check_shares(pruned.shares);
    CHECK(sos.left_out.empty());
    CHECK(replay_whole(tree, cost, sos.shares).finish == Approx(sos.finish).epsilon(1e-11));
    CHECK(replay_whole(tree, cost, pruned.shares).finish == Approx(pruned.finish).epsilon(1e-11));
    CHECK(pruned.finish <= sos.finish * (1 + 1e-12));
    CHECK(sos.finish <= tree[0].w * cost.tcp * 100);
    CHECK(pruned.finish <= tree[0].w * cost.tcp * (1 + 1e-12));  // the root alone is one of its choices
    for (const LeftOut& each : pruned.left_out) CHECK(pruned.shares[each.node] == 0);
    CHECK(static_cast<std::size_t>(std::count(pruned.shares.begin(), pruned.shares.end(), 0.0)) ==
          pruned.left_out.size());
    LoadCost half = cost;
    half.duplex = Duplex::half;
    CHECK(replay_whole(tree, half, sos.shares).finish >= sos.finish * (1 - 1e-12));
    if (sos.early_reports.empty())
      CHECK(replay_whole(tree, half, sos.shares).finish == Approx(sos.finish).epsilon(1e-11));
  }
}

TEST_CASE("the linear program is never beaten; pruned SOS reaches it with full duplex", "[plans][random]") {
  for (std::uint64_t seed = 1; seed <= some; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const LoadTree tree = random_tree(random, wide);
    LoadCost cost = random_cost(random);
    const auto best = plan_optimal(tree, cost);
    REQUIRE(best.ok());
    check_shares(best->shares);
    CHECK(replay_whole(tree, cost, best->shares).finish <= best->finish * (1 + 1e-7));
    for (const auto& shares : {equal_shares(tree), plan_sequential(tree, cost, Prune::none).shares,
                               plan_sequential(tree, cost, Prune::greedy).shares})
      CHECK(replay_whole(tree, cost, shares).finish >= best->finish * (1 - 1e-7));
    if (cost.duplex == Duplex::full)
      CHECK(plan_sequential(tree, cost, Prune::greedy).finish == Approx(best->finish).epsilon(1e-6));
  }
}

TEST_CASE("homogeneous trees: SOS is the optimum with both duplex modes", "[plans]") {
  for (const Duplex duplex : {Duplex::full, Duplex::half}) {
    for (std::size_t level = 1; level <= 3; ++level) {
      for (std::size_t arity = 1; arity <= 3; ++arity) {
        const LoadTree tree = complete_tree(level, arity, 1, 0.05);
        const LoadCost cost{1, 1, 0.2, duplex};
        CHECK(plan_optimal(tree, cost)->finish ==
              Approx(plan_sequential(tree, cost, Prune::none).finish).epsilon(1e-8));
      }
    }
  }
}

TEST_CASE("corner cases: one node, free links, no results, links that only cost", "[plans]") {
  const LoadCost cost{2, 1, 0.2, Duplex::full};
  const FleetPlan alone = plan_fleet(LoadTree(3), cost).value();
  for (const StrategyPlan* plan : alone.all()) {
    CHECK(plan->finish == 6);
    CHECK(plan->speedup == 1);
    CHECK(plan->shares == std::vector<double>{1});
    CHECK(plan->feasible);
  }
  LoadTree free_links(1);
  free_links.add(0, 1, 0);
  free_links.add(0, 1, 0);
  const FleetPlan three = plan_fleet(free_links, {1, 1, 0, Duplex::full}).value();
  for (const StrategyPlan* plan : three.all()) CHECK(plan->speedup == Approx(3));
  // A lone child always pays; one that is served before a better one need not, and takes its own along.
  LoadTree slow_links(1);
  const auto far = slow_links.add(0, 0.5, 10, "far");
  slow_links.add(far, 1, 5, "behind");
  slow_links.add(0, 0.5, 0.01, "near");
  const FleetPlan near = plan_fleet(slow_links, {1, 1, 0, Duplex::full}).value();
  REQUIRE(near.sos_pruned.left_out.size() == 2);
  CHECK(near.sos_pruned.left_out[0].node == far);
  CHECK(near.sos_pruned.left_out[0].reason.find("without it the tree ends") != std::string::npos);
  CHECK(near.sos_pruned.left_out[1].reason == "it is below far, which is left out");
  CHECK(near.sos_pruned.finish < near.sos.finish);
  CHECK(near.sos.left_out.empty());
}

TEST_CASE("plans of any tree hold together", "[plans][random]") {
  for (std::uint64_t seed = 1; seed <= some; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const LoadTree tree = random_tree(random, random.chance(0.5) ? wide : TreeBounds{});
    const LoadCost cost = random_cost(random);
    const auto plan = plan_fleet(tree, cost);
    REQUIRE(plan.ok());
    for (const StrategyPlan* each : plan->all()) {
      check_shares(each->shares);
      CHECK(each->speedup == Approx(tree[0].w * cost.tcp / each->finish));
      CHECK(each->finish == each->replay.finish);
    }
    CHECK(plan->eas.feasible);
    CHECK(plan->best().finish <= plan->sos_pruned.finish);
    if (plan->mos.feasible) CHECK(plan->mos.left_out.empty());
  }
}

TEST_CASE("pruning takes the best child each time", "[plans][random]") {
  for (std::uint64_t seed = 1; seed <= many / 5; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::vector<std::pair<double, double>> hosts;  // w, z
    for (auto left = random.between(1, 8); left > 0; --left)
      hosts.emplace_back(between(random, 0.3, 6), between(random, 0.02, 1.5));
    LoadCost cost = random_cost(random);
    const auto star_of = [](const auto& members) {
      LoadTree star(1);
      for (const auto& [w, z] : members) star.add(0, w, z);
      return star;
    };
    const auto finish_of = [&](const auto& members) {
      return plan_sequential(star_of(members), cost, Prune::none).finish;
    };
    const double pruned = plan_sequential(star_of(hosts), cost, Prune::greedy).finish;
    for (;;) {  // by trying every removal
      double lowest = finish_of(hosts);
      auto best = hosts;
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        auto rest = hosts;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (finish_of(rest) < lowest * (1 - 1e-12)) {
          lowest = finish_of(rest);
          best = rest;
        }
      }
      if (best.size() == hosts.size()) break;
      hosts = best;
    }
    CHECK(pruned == Approx(finish_of(hosts)).epsilon(1e-11));
  }
}

TEST_CASE("ten thousand hosts in a star, and extreme numbers, stay finite", "[plans]") {
  LoadTree star(1);
  for (int i = 1; i < 10'000; ++i) star.add(0, 1 + 0.001 * (i % 7), 0.0001 * (1 + i % 11));
  const FleetPlan plan = plan_fleet(star, {1, 1, 3, Duplex::full}).value();  // results longer than load
  for (const StrategyPlan* each : plan.all()) CHECK(std::isfinite(each->finish));
  check_shares(plan.sos.shares);
  LoadTree extreme(1e12);
  extreme.add(0, 1e-12, 1e12);
  extreme.add(0, 1e-12, 1e-12);
  const FleetPlan far = plan_fleet(extreme, {}).value();
  for (const StrategyPlan* each : far.all()) CHECK(std::isfinite(each->finish));
}

}  // namespace gleaner::planning
