// Items that prove longer than their hint: kept by their holders, copied by much faster hosts in time.
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

StageSetup setup_with(const char* sizing, std::int64_t items, bool learn) {
  StageSetup setup{items, {}, sizing, Straggler::split, true, {}};
  setup.rules.learn_costs = learn;
  setup.benchmark_worth = 1;
  return setup;
}

// A host that is paused in the middle of an item of a minute, hinted as a second; another one asks.
Unit recovered(StageBench& bench, Unit& holder) {
  holder = bench.take(1);
  bench.wait(90);
  bench.report(holder, 90, 90, 1);
  bench.commit(holder, {0, 90});
  bench.wait(60);
  bench.report(holder, 90, 150, 0, protocol::RunState::paused, 60);
  bench.performance = 100;  // it would take all
  return bench.take(2);
}

// A slow host is at its first item for 40 s, all the rest would take a fast one 12 s; it asks for its second
// slot.
Unit asked_in_time(StageBench& bench, Unit& slow) {
  slow = bench.take(1);
  bench.performance = 100;
  const Unit first = bench.take(2);
  bench.wait(40);
  bench.report(slow, 0, 40, 0, protocol::RunState::running, 40);
  bench.report(first, first.range.begin);  // it is there, and nothing is known yet of its speed
  REQUIRE_FALSE(bench.stage.free().empty());
  return bench.take(2, 1);
}

}  // namespace

TEST_CASE("an item that takes long stays with its paused holder, and is copied") {
  StageBench bench(setup_with("static,mode=paper", 100, true));
  Unit holder;
  CHECK(recovered(bench, holder).range == Range{91, 100});
  CHECK(bench.see(holder).range.end == 91);
  const Unit copy = bench.take(3);
  CHECK(copy.range == Range{90, 91});
  CHECK(copy.group == holder.group);
  CHECK(bench.commit(holder, {90, 91}, true).accepted.size() == 1);
  CHECK(bench.see(copy).state == UnitState::cancelled);
}

TEST_CASE("an item that would end after all the rest is copied by a much faster host") {
  StageBench bench(setup_with("gleaner", 1000, true));
  Unit slow;
  const Unit copy = asked_in_time(bench, slow);
  CHECK(copy.kind == UnitKind::copy);
  CHECK(copy.range == Range{0, 1});
  CHECK(bench.see(slow).range == Range{0, 1});  // what follows is free again
  bench.commit(copy, {0, 1}, true);
  CHECK(bench.see(slow).state == UnitState::cancelled);
}

TEST_CASE("learn_costs switches both off") {
  StageBench paused(setup_with("static,mode=paper", 100, false));
  Unit holder;
  CHECK(recovered(paused, holder).range == Range{90, 100});
  StageBench running(setup_with("gleaner", 1000, false));
  CHECK(asked_in_time(running, holder).kind == UnitKind::fresh);
}
