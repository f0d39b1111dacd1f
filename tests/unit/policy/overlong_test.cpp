// Items that prove longer than their hint: kept by their holders, copied by much faster hosts in time.
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

StageSetup setup_with(const char* sizing, std::int64_t items) {
  StageSetup setup{items, {}, sizing, Straggler::split, true, {}};
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

// A slow host is at its first item for 400 s, all the rest would take a fast one two minutes; it asks for its
// second slot.
Unit asked_in_time(StageBench& bench, Unit& slow) {
  slow = bench.take(1);
  bench.performance = 10;
  const Unit first = bench.take(2);
  bench.wait(400);
  bench.report(slow, 0, 400, 0, protocol::RunState::running, 400);
  bench.report(first, first.range.begin);  // it is there, and nothing is known yet of its speed
  REQUIRE_FALSE(bench.stage.ledger().free().empty());
  return bench.take(2, 1);
}

}  // namespace

TEST_CASE("an item that takes long stays with its paused holder, and is copied") {
  StageBench bench(setup_with("static,mode=paper", 100));
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
  StageBench bench(setup_with("gleaner", 1000));
  Unit slow;
  const Unit copy = asked_in_time(bench, slow);
  CHECK(copy.kind == UnitKind::copy);
  CHECK(copy.range == Range{0, 1});
  CHECK(bench.see(slow).range == Range{0, 1});  // what follows is free again
  bench.commit(copy, {0, 1}, true);
  CHECK(bench.see(slow).state == UnitState::cancelled);
}

TEST_CASE("an item that somebody else has delivered is not copied, though its holder is still at it") {
  StageBench bench(setup_with("gleaner", 1000));
  const Unit before = bench.take(3);
  bench.give_back(before, GiveBack::returned);
  const Unit slow = bench.take(1);
  REQUIRE(slow.range.begin == 0);
  CHECK(bench.commit(before, {0, 1}).accepted.size() == 1);  // late, and welcome
  bench.performance = 100;
  const Unit first = bench.take(2);
  bench.wait(40);
  bench.report(slow, 0, 40, 0, protocol::RunState::running, 40);
  bench.report(first, first.range.begin);
  REQUIRE_FALSE(bench.stage.ledger().free().empty());
  CHECK(bench.take(2, 1).kind == UnitKind::fresh);
}

namespace {

// Two hosts of which the second is ten times as fast; the slow one says after half a minute how much of its
// first item is done.
struct Told {
  explicit Told(double share, const char* sizing = "gleaner") : bench(setup_with(sizing, 10'000)) {
    slow = bench.take(1);
    bench.performance = 10;
    const Unit first = bench.take(2);
    bench.wait(30);
    bench.report(slow, 0, 30, share, protocol::RunState::running, 30, share);
    const std::int64_t done = std::min<std::int64_t>(300, first.range.size());
    bench.report(first, first.range.begin + done, 30, 10);
    bench.commit(first, {first.range.begin, first.range.begin + done});
  }
  [[nodiscard]] double expected() {
    for (const SlotView& slot : bench.stage.slots_on(bench.now)) {
      if (slot.host == slow.host) return slot.seconds_left;
    }
    return -1;
  }
  StageBench bench;
  Unit slow;
};

}  // namespace

TEST_CASE("what is done of an item tells when it ends") {
  CHECK(Told(0.25, "rts,mode=paper").expected() == Approx(90).margin(10));
  CHECK(Told(0.025, "rts,mode=paper").expected() == Approx(1170).margin(100));
  CHECK(Told(0, "rts,mode=paper").expected() < 60);  // its kernel does not know
}

TEST_CASE("an item that is told to be long is copied by a faster host in time") {
  Told told(0.005);  // 6000 s here, 600 s there; all the rest takes 900 s
  const Unit copy = told.bench.take(2, 1);
  CHECK(copy.kind == UnitKind::copy);
  CHECK(copy.range == Range{0, 1});
  CHECK(told.bench.see(told.slow).range == Range{0, 1});
  SECTION("not where it ends before all the rest") {
    Told soon(0.1);
    CHECK(soon.bench.take(2, 1).kind == UnitKind::fresh);
  }
  SECTION("the copy finds that the other host was slow: the item costs what it was thought to") {
    told.bench.wait(10);
    told.bench.report(copy, 0, 10, 1, protocol::RunState::running, 10, 0.9);
    CHECK(told.bench.take(3).kind == UnitKind::fresh);
  }
}

TEST_CASE("one item after the other that proves long tells of a slow host") {
  const bool between = GENERATE(false, true);  // was there one that did not?
  Told told(0.005);
  StageBench& bench = told.bench;
  const std::int64_t next = between ? 2 : 1;
  bench.wait(60);
  bench.report(told.slow, next, 90, 0.005, protocol::RunState::running, 30, 0.005);
  const Unit given = bench.take(2, 1);
  INFO(given.reason);
  CHECK(given.kind == (between ? UnitKind::copy : UnitKind::fresh));
  if (between) CHECK(given.range == Range{next, next + 1});
}
