// R3: which items a host gets while some are long.
#include <optional>

#include "server/policy/ledger/costs.h"
#include "server/policy/ledger/free_by_cost.h"
#include "server/policy/stage/stage.h"
#include "shared/base/random.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// 1000 items of 10 s and a long one of `seconds` at `place`, for hosts of benchmark 1 (an item of hint 1
// takes 1 / .85 s).
StageSetup with_long(std::int64_t place, double seconds) {
  StageSetup setup;
  setup.items = 1000;
  setup.costs.assign(1000, 10);
  setup.costs[static_cast<std::size_t>(place)] = seconds;
  setup.sizing = "gleaner";
  setup.benchmark_worth = 1 / 0.85;
  return setup;
}

// A stage that somebody asked a minute and a half ago, who got nothing and has gone.
struct Settled : StageBench {
  explicit Settled(const StageSetup& with) : StageBench(with) {
    Requester first;
    first.host = HostId{99};
    first.unit = UnitId{99};
    first.planned = Range{};
    CHECK_FALSE(recorded.apply(RequestEvent{first}, now, changes).unit);
    wait(100);
  }
};

// A host of speed 1 is at item 5, which takes it 4000 s; one of speed 10 has done some of the rest meanwhile,
// and needs twelve minutes for what is free.
struct LateLong {
  explicit LateLong(const StageSetup& setup) : bench(setup) {
    slow = bench.take(1);
    REQUIRE(slow.range == Range{5, 6});
    bench.performance = 10;
    while (bench.stage.ledger().free().total() > 800) {
      const Unit unit = bench.take(2);
      CHECK(unit.kind == UnitKind::fresh);  // for the long one there is time yet
      const auto seconds = static_cast<int>(unit.range.size());
      for (int i = 0; i < seconds; ++i) {
        bench.wait(1);
        if (i % 30 == 29) bench.report(unit, unit.range.begin + i + 1, i + 1, 10);
        if (++running % 30 == 0) bench.report(slow, 5, running, 1, protocol::RunState::running, running);
      }
      bench.finish(unit);
    }
    REQUIRE_FALSE(bench.stage.ledger().free().empty());
  }
  Settled bench;
  Unit slow;
  int running = 0;
};

}  // namespace

TEST_CASE("R3: a long item goes first and alone, the rest stays in plain order") {
  Settled bench(with_long(600, 1500));
  const Unit first = bench.take(1);
  CHECK(first.range == Range{600, 601});
  CHECK(first.reason.find("the longest that fits") != std::string::npos);
  const Unit second = bench.take(2);
  CHECK(second.range.begin == 0);
  CHECK(second.range.size() > 1);
}

TEST_CASE("R3: a shorter long item takes neighbours along") {
  Settled bench(with_long(600, 300));
  const Unit first = bench.take(1);
  CHECK(first.range.begin == 600);
  CHECK(first.range.size() > 10);
  CHECK(bench.stage.ledger().costs().of(first.range) == Approx(1200).margin(60));
}

TEST_CASE("R3: without long items the order is plain") {
  StageBench even(with_long(600, 40));
  CHECK(even.take(1).range.begin == 0);
}

TEST_CASE("R3: an item that does not fit a slow host waits for a fast one") {
  Settled both(with_long(5, 4000));
  both.performance = 50;
  CHECK(both.take(1).range == Range{5, 6});
  both.give_back(*both.stage.open_units().front(), GiveBack::returned);
  both.performance = 1;
  const Unit slow = both.take(2);  // .35 of the time in which all would end are 100 s
  CHECK(slow.range.begin == 0);
  CHECK_FALSE(slow.range.contains(5));
  both.performance = 50;
  CHECK(both.take(1).range == Range{5, 6});
}

TEST_CASE("R3: when only too long items are left, the shortest goes first") {
  StageSetup setup;
  setup.items = 3;
  setup.costs = {5000, 4000, 6000};
  setup.sizing = "gleaner";
  setup.benchmark_worth = 1 / 0.85;
  Settled bench(setup);
  bench.performance = 10;
  CHECK(bench.take(1).range == Range{0, 1});
  bench.performance = 0.05;
  CHECK(bench.take(2).range == Range{1, 2});
}

TEST_CASE("free items by cost: searches agree with a plain look at all, whatever is free") {
  const std::uint64_t seed = 17;
  INFO("seed " << seed);
  Random random(seed);
  for (int run = 0; run < 40; ++run) {
    const std::int64_t items = random.between(1, 5000);
    std::vector<double> hints;
    for (std::int64_t i = 0; i < items; ++i) hints.push_back(static_cast<double>(random.between(1, 40)));
    const Costs costs(items, hints);
    RangeSet free({0, items});
    FreeByCost by_cost(costs, free);
    for (int step = 0; step < 60; ++step) {
      const std::int64_t begin = random.between(0, items - 1);
      const Range range{begin, random.between(begin, items)};
      if (random.chance(0.6)) {
        free.remove(range);
        by_cost.remove(range);
      } else {
        free.add(range);
        by_cost.add(range);
      }
      REQUIRE(by_cost.agrees_with(free));
      const double limit = random.uniform() * 45;
      std::optional<std::int64_t> best, least;
      for (const Range part : free.ranges()) {
        for (std::int64_t i = part.begin; i < part.end; ++i) {
          const double cost = hints[static_cast<std::size_t>(i)];
          if (cost <= limit && (!best || cost > hints[static_cast<std::size_t>(*best)])) best = i;
          if (!least || cost <= hints[static_cast<std::size_t>(*least)]) least = i;
        }
      }
      REQUIRE(by_cost.longest_up_to(limit) == best);
      const auto shortest = by_cost.shortest();
      REQUIRE(shortest.has_value() == least.has_value());
      if (least) REQUIRE(costs.of({*shortest, *shortest + 1}) == Approx(costs.of({*least, *least + 1})));
    }
  }
}

TEST_CASE("a long item that would end after all the rest is copied by a fast host, in time") {
  LateLong late(with_long(5, 4000));
  const bool restarted = GENERATE(false, true);
  if (restarted) {
    late.bench.restart();
    late.bench.report(late.slow, 5, late.running, 1, protocol::RunState::running, late.running);
  }
  const Unit copy = late.bench.take(2);
  CHECK(copy.kind == UnitKind::copy);
  CHECK(copy.range == Range{5, 6});
  CHECK(copy.group == late.slow.group);
  CHECK(late.bench.take(2, 1).kind == UnitKind::fresh);  // never twice on a host
  late.bench.commit(copy, {5, 6}, true);
  CHECK(late.bench.see(late.slow).state == UnitState::cancelled);
}

TEST_CASE("a copy of a long item is for a fast host") {
  LateLong late(with_long(5, 4000));
  late.bench.performance = 4;
  CHECK(late.bench.take(3).kind == UnitKind::fresh);
}

TEST_CASE("R3: who asks in the first minute gets nothing that takes it longer than the longest unit") {
  const StageSetup setup = with_long(600, 1500);
  StageBench early(setup);
  CHECK_FALSE(early.take(1).range.contains(600));
  StageBench later(setup);
  CHECK_FALSE(later.take(1).range.contains(600));
  later.wait(61);
  CHECK(later.take(2).range == Range{600, 601});
}

// The item takes the first host a minute.
TEST_CASE("a copy has to end clearly sooner than all that there are") {
  StageSetup setup{1, {}, "gleaner", Straggler::split, true, {}};
  setup.rules.copy_budget = 100;
  setup.benchmark_worth = 1.0 / 60;
  StageBench bench(setup);
  bench.take(1);
  bench.performance = 1.5;
  bench.take(2);
  CHECK_FALSE(bench.ask(3).unit);
  bench.performance = 10;
  CHECK(bench.take(4).kind == UnitKind::copy);
  CHECK_FALSE(bench.ask(5).unit);
}
