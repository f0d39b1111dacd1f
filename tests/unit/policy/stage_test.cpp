// Stage: the free pool, commits, give-backs, failures, leases, restarts, disputes. The endgame has its own
// file.
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("a stage is handed out, delivered and complete") {
  StageBench bench(10, "static,mode=grid");
  int rounds = 0;
  while (!bench.stage.complete()) {
    REQUIRE(++rounds < 100);
    const Unit unit = bench.take(1);
    bench.wait(2);
    CHECK(bench.finish(unit).accepted == std::vector<Range>{unit.range});
    CHECK(bench.see(unit).state == UnitState::done);
  }
  CHECK(bench.stage.accepted().total() == 10);
  CHECK_FALSE(bench.ask(1).unit);
  CHECK(bench.stage.host(HostId{1})->rate == Approx(0.5));
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);
}
