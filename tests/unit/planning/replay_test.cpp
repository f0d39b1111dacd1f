// Replays: what can be worked out by hand, and what must hold for any tree and allocation.
#include "shared/planning/replay.h"

#include <numeric>

#include "shared/planning/multi_installment.h"
#include "tests/catch.h"
#include "tests/unit/planning/trees.h"

namespace gleaner::planning {
namespace {

std::vector<double> random_shares(Random& random, std::size_t count) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < count; ++i) shares.push_back(random.chance(0.2) ? 0 : random.exponential(1));
  const double sum = std::accumulate(shares.begin(), shares.end(), 1e-9);
  for (double& each : shares) each /= sum;
  return shares;
}

std::vector<std::size_t> order_of(const LoadTree& tree) {
  std::vector<std::size_t> order;
  for (const auto& level : distribution_order(tree)) order.insert(order.end(), level.begin(), level.end());
  return order;
}

// One port is used by one transfer at a time.
bool overlap(const std::vector<Span>& spans) {
  std::vector<std::pair<double, double>> times;
  for (const Span& span : spans) times.emplace_back(span.begin, span.end);
  std::sort(times.begin(), times.end());
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i].first < times[i - 1].second - 1e-12) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a chain of three by hand", "[replay]") {
  LoadTree tree(1);
  tree.add(0, 1, 0.1);
  tree.add(1, 2, 0.2);
  const LoadCost cost{1, 1, 0.5, Duplex::full};
  const std::vector<double> shares{0.5, 0.3, 0.2};
  // Whole: 0.5 arrives at 0.05; 0.2 goes on until 0.09; computed at 0.49, reported at 0.51; all of 0.5 by
  // 0.535.
  CHECK(replay_whole(tree, cost, shares).finish == Approx(0.535));
  // One each: 0.3 arrives at 0.03; 0.2 at 0.05, and at the last one at 0.09; computed at 0.49; back two hops
  // by 0.51 and 0.52; node 1's own 0.3 was computed at 0.33 and back long before.
  const Replay single = replay_installments(tree, cost, shares, {0, 1, 2});
  CHECK(single.finish == Approx(0.52));
  CHECK(single.finishes[1] == Approx(0.33));
  CHECK(replay_whole(LoadTree(2), {3, 1, 1, Duplex::half}, {1}).finish == 6);
  CHECK(replay_installments(LoadTree(2), {3, 1, 1, Duplex::half}, {1}, {0}).finish == 6);
}

TEST_CASE("half duplex waits for the last send", "[replay]") {
  LoadTree tree(1);
  tree.add(0, 0.01, 0.1);
  tree.add(0, 0.01, 10);
  const std::vector<double> shares{0, 0.9, 0.1};
  CHECK(replay_whole(tree, {1, 1, 1, Duplex::full}, shares).finish == Approx(2.091));
  CHECK(replay_whole(tree, {1, 1, 1, Duplex::half}, shares).finish == Approx(1.09 + 0.09 + 1));
  const auto spans = replay_whole(tree, {1, 1, 1, Duplex::half}, shares).spans;
  CHECK(spans.front().node == 1);
  CHECK(spans.front().activity == Activity::receive);
}

TEST_CASE("any tree, any shares: time is linear in load, ports serve one at a time", "[replay][random]") {
#ifdef GLEANER_SANITIZED
  constexpr std::uint64_t runs = 500;
#else
  constexpr std::uint64_t runs = 10'000;
#endif
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const LoadTree tree = random_tree(random, {12, 0.3, 6, 0, 1.5});
    LoadCost cost = random_cost(random);
    const auto shares = random_shares(random, tree.size());
    const auto order = order_of(tree);
    auto doubled = shares;
    for (double& each : doubled) each *= 2;
    const Replay whole = replay_whole(tree, cost, shares);
    const Replay single = replay_installments(tree, cost, shares, order);
    CHECK(replay_whole(tree, cost, doubled).finish == Approx(2 * whole.finish).epsilon(1e-12));
    CHECK(replay_installments(tree, cost, doubled, order).finish == Approx(2 * single.finish).epsilon(1e-12));
    std::size_t computed = 0;
    std::vector<std::vector<Span>> in(tree.size()), out(tree.size());
    for (const Span& span : single.spans) {
      CHECK(span.end <= single.finish + 1e-12);
      if (span.activity == Activity::compute) {
        ++computed;
        continue;
      }
      const std::size_t parent = tree[span.node].parent;
      const bool down = span.activity == Activity::receive;
      in[down ? span.node : parent].push_back(span);
      out[down ? parent : span.node].push_back(span);
    }
    CHECK(computed == static_cast<std::size_t>(std::count_if(shares.begin(), shares.end(),
                                                             [](double share) { return share > 0; })));
    for (std::size_t i = 0; i < tree.size(); ++i) {
      CHECK_FALSE(overlap(in[i]));
      CHECK_FALSE(overlap(out[i]));
      if (cost.duplex == Duplex::full) continue;
      in[i].insert(in[i].end(), out[i].begin(), out[i].end());
      CHECK_FALSE(overlap(in[i]));
    }
    cost.duplex = Duplex::full;
    CHECK(replay_whole(tree, cost, shares).finish <= whole.finish + 1e-12);
  }
}

}  // namespace gleaner::planning
