// Trees, their shape, and what is refused.
#include "shared/planning/load_tree.h"

#include <numeric>

#include "shared/base/limits.h"
#include "shared/planning/multi_installment.h"
#include "tests/catch.h"
#include "tests/unit/planning/trees.h"

namespace gleaner::planning {

TEST_CASE("pre-order, subtrees and levels", "[tree]") {
  LoadTree tree(1, "top");
  const auto a = tree.add(0, 1, 0.1, "a");
  const auto b = tree.add(a, 1, 0.1);
  const auto c = tree.add(0, 1, 0.1);
  CHECK(tree[0].subtree_end == 4);
  CHECK(tree[a].subtree_end == 3);
  CHECK(tree[b].level == 2);
  CHECK(tree[0].children == std::vector<std::size_t>{a, c});
  CHECK(tree.depth() == 2);
  CHECK(tree.label(0) == "top");
  CHECK(tree.label(b) == "node 2");
  CHECK(complete_arity(tree) == 0);
  CHECK(complete_arity(LoadTree(1)) == 1);
  CHECK(complete_arity(complete_tree(3, 2, 1, 0.1)) == 2);
  CHECK(complete_tree(3, 2, 1, 0.1).size() == 15);
  CHECK(subtree_loads(tree, {0.1, 0.2, 0.3, 0.4}) == std::vector<double>{1, 0.5, 0.3, 0.4});
  CHECK(is_homogeneous(tree));
}

TEST_CASE("the order of distribution is the digit reversal on complete trees", "[tree]") {
  for (std::size_t arity = 1; arity <= 4; ++arity) {
    const LoadTree tree = complete_tree(3, arity, 1, 0.1);
    // Indices within their level, counted from left to right.
    std::vector<std::size_t> place(tree.size()), seen(4, 0);
    for (std::size_t i = 0; i < tree.size(); ++i) place[i] = seen[tree[i].level]++;
    const auto levels = distribution_order(tree);
    REQUIRE(levels.size() == 4);
    for (std::size_t j = 0; j <= 3; ++j) {
      for (std::size_t m = 0; m < levels[j].size(); ++m) {
        std::size_t reversed = 0, rest = m;
        for (std::size_t digit = 0; digit < j; ++digit, rest /= arity)
          reversed = reversed * arity + rest % arity;
        CHECK(place[levels[j][m]] == reversed);
      }
    }
  }
}

TEST_CASE("every node has its turn once in any tree", "[tree][random]") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const LoadTree tree = random_tree(random, {40, 1, 2, 0.1, 0.2});
    std::vector<std::size_t> all;
    const auto levels = distribution_order(tree);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      for (const auto node : levels[j]) CHECK(tree[node].level == j);
      all.insert(all.end(), levels[j].begin(), levels[j].end());
    }
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> expected(tree.size());
    std::iota(expected.begin(), expected.end(), 0U);
    CHECK(all == expected);
  }
}

TEST_CASE("numbers that are none are refused by name", "[tree]") {
  const auto message = [](const LoadTree& tree, const LoadCost& cost) {
    const Status checked = check_load(tree, cost);
    return checked.ok() ? std::string() : checked.error().message;
  };
  LoadTree tree(1);
  tree.add(0, 0, 0.1, "lab-1");
  CHECK(message(tree, {}) == "w of lab-1 must be a number above 0 (1e-12 to 1e12)");
  CHECK(message(LoadTree(1), {0, 1, 0, Duplex::full}).find("tcp must be") == 0);
  CHECK(message(LoadTree(1), {1, -1, 0, Duplex::full}).find("tcm must be") == 0);
  CHECK(message(LoadTree(1), {1, 1, 1e13, Duplex::full}).find("tsol must be") == 0);
  CHECK(message(LoadTree(1), {}).empty());
  LoadTree link(1);
  link.add(0, 1, -0.5);
  CHECK(message(link, {}).find("z of node 1 must be") == 0);
  LoadTree chain(1);
  for (int i = 0; i <= limits::plan_depth_max; ++i) chain.add(chain.size() - 1, 1, 0.1);
  CHECK(check_load(chain, {}).error().kind == ErrorKind::too_large);
  LoadTree star(1);
  for (int i = 0; i < limits::plan_nodes_max; ++i) star.add(0, 1, 0.1);
  CHECK(check_load(star, {}).error().kind == ErrorKind::too_large);
}

}  // namespace gleaner::planning
