// What a host saved of an item in progress, another one goes on from.
#include <cmath>

#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// A stage of one long item, 1000 s for a host of speed 1.
StageSetup one_long() {
  StageSetup setup;
  setup.items = 1;
  setup.costs = {1000};
  setup.sizing = "gleaner";
  setup.benchmark_worth = 1 / 0.85;
  return setup;
}

// Its first host saves half of it, and is paused.
struct HalfDone {
  HalfDone() : bench(one_long()) {
    first = bench.take(1);
    bench.wait(500);
    bench.report(first, 0, 500, 1, protocol::RunState::running, 500, 0.5);
    kept = bench.recorded.apply(SaveEvent{HostId{1}, first.id, 0, 0.5}, bench.now);
    bench.report(first, 0, 500, 0, protocol::RunState::paused, 500, 0.5);
  }
  StageBench bench;
  Unit first;
  bool kept = false;
};

}  // namespace

TEST_CASE("a copy goes on from what was saved, and its first host stands for it") {
  HalfDone half;
  CHECK(half.kept);
  const Unit copy = half.bench.take(2);
  CHECK(copy.range == Range{0, 1});
  CHECK(copy.begun_share == 0.5);
  CHECK(copy.begun_by == HostId{1});
  // After 100 s it has done a tenth more: 400 s are left, not 900 and not 67.
  half.bench.wait(100);
  half.bench.report(copy, 0, 100, 1, protocol::RunState::running, 100, 0.6);
  for (const SlotView& slot : half.bench.stage.slots_on(half.bench.now)) {
    if (slot.host == HostId{2}) CHECK(slot.seconds_left == Approx(400).margin(40));
  }
  SECTION("and so does whoever goes on from there") {
    CHECK(half.bench.recorded.apply(SaveEvent{HostId{2}, copy.id, 0, 0.6}, half.bench.now));
    half.bench.report(copy, 0, 100, 0, protocol::RunState::paused, 100, 0.6);
    const Unit next = half.bench.take(3);
    CHECK(next.begun_share == 0.6);
    CHECK(next.begun_by == HostId{1});
  }
  SECTION("but who is asked for another opinion begins anew") {
    half.bench.commit(copy, {0, 1}, true);
    half.bench.recorded.apply(DisputeEvent{{0, 1}, {HostId{1}, HostId{2}}}, half.bench.now,
                              half.bench.changes);
    const Unit check = half.bench.take(4);
    CHECK(check.kind == UnitKind::check);
    CHECK(check.begun_share == 0);
    CHECK_FALSE(check.begun_by.valid());
    CHECK_FALSE(half.bench.recorded.apply(SaveEvent{HostId{4}, check.id, 0, 0.9}, half.bench.now));
  }
  SECTION("after a restart of the server, too") {
    half.bench.restart();
    CHECK(half.bench.see(copy).begun_share == 0.5);
    CHECK(half.bench.see(copy).begun_by == HostId{1});
  }
}

TEST_CASE("what is of no use is not kept") {
  HalfDone half;
  const auto save = [&](HostId host, UnitId id, std::int64_t item, double share) {
    return half.bench.recorded.apply(SaveEvent{host, id, item, share}, half.bench.now);
  };
  const UnitId unit = half.first.id;
  CHECK_FALSE(save(HostId{1}, unit, 0, 0.5));  // no more than before
  CHECK_FALSE(save(HostId{1}, unit, 0, 0.4));
  CHECK_FALSE(save(HostId{1}, unit, 0, 1.1));
  CHECK_FALSE(save(HostId{1}, unit, 0, std::nan("")));
  CHECK_FALSE(save(HostId{2}, unit, 0, 0.9));  // not its unit
  CHECK_FALSE(save(HostId{1}, UnitId{99}, 0, 0.9));
  CHECK_FALSE(save(HostId{1}, unit, 1, 0.9));  // not in it
  CHECK_FALSE(save(HostId{1}, unit, -1, 0.9));
  CHECK(save(HostId{1}, unit, 0, 0.55));
}

TEST_CASE("what made a kernel fail is not given to another one") {
  HalfDone half;
  const Unit copy = half.bench.take(2);
  CHECK(copy.begun_share == 0.5);
  half.bench.give_back(copy, GiveBack::failed, 0);
  CHECK(half.bench.take(3).begun_share == 0);
}
