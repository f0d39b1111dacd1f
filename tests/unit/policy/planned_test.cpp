// What a stage hands out where a mapping strategy plans: the planned range, nothing beside it.
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

Grant ask(StageBench& bench, int host, Range planned) {
  Requester requester;
  requester.host = HostId{host};
  requester.performance = 1;
  requester.unit = UnitId{bench.next_unit};
  requester.planned = planned;
  requester.planned_reason = "a plan";
  const Grant grant = bench.recorded.apply(RequestEvent{requester}, bench.now, bench.changes);
  if (grant.unit) ++bench.next_unit;
  bench.stage.check_invariants();
  return grant;
}

}  // namespace

TEST_CASE("A planned range is handed out as far as it is free") {
  StageBench bench(100);
  const Grant first = ask(bench, 1, {40, 60});
  REQUIRE(first.unit);
  CHECK(bench.stage.unit(*first.unit)->range == Range{40, 60});
  CHECK(bench.stage.unit(*first.unit)->reason == "a plan");
  const Grant second = ask(bench, 2, {50, 70});
  REQUIRE(second.unit);
  CHECK(bench.stage.unit(*second.unit)->range == Range{60, 70});
  const Grant third = ask(bench, 3, {45, 65});
  CHECK_FALSE(third.unit);
  CHECK(third.retry_after > 0);
  CHECK_FALSE(third.reason.empty());
}

TEST_CASE("Without a plan nothing is handed out while items are free, and the endgame's rules hold after") {
  StageBench bench(10);
  CHECK_FALSE(ask(bench, 1, {}).unit);
  REQUIRE(ask(bench, 1, {0, 10}).unit);
  // Host 1 falls silent; host 2 has no plan, and re-covers what is stalled.
  bench.wait(500);
  const Grant late = ask(bench, 2, {});
  REQUIRE(late.unit);
  CHECK(bench.stage.unit(*late.unit)->kind != UnitKind::fresh);
}

TEST_CASE("Slots that are on are seen with the seconds that are left to them") {
  StageBench bench(100);
  CHECK(bench.stage.slots_on(bench.now).empty());
  const Unit unit = bench.take(1);
  REQUIRE(bench.stage.slots_on(bench.now).size() == 1);
  bench.wait(10);
  bench.report(unit, unit.range.begin, 10, 0.5);
  const auto slots = bench.stage.slots_on(bench.now);
  REQUIRE(slots.size() == 1);
  CHECK(slots.front().host == HostId{1});
  CHECK(slots.front().seconds_left >= 0);
  bench.wait(100'000);
  bench.tick();
  CHECK(bench.stage.slots_on(bench.now).empty());
}
