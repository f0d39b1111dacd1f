// What counts as wasted: all that was computed and is of no use, whoever ended it.
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

double wasted(const StageBench& bench) {
  return bench.stage.counts(bench.now).cost_wasted;
}

}  // namespace

TEST_CASE("a failure wastes what was finished before it and the item that failed") {
  StageBench bench(10, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.wait(5);
  bench.give_back(unit, GiveBack::failed, 3);
  CHECK(wasted(bench) == Approx(4));
  CHECK(bench.stage.hosts().front()->busy_seconds == Approx(5));
}

TEST_CASE("where a rate is known, a failed item costs its time, and no more than the whole of it") {
  StageBench bench(
      StageSetup{8, std::vector<double>(8, 100.0), "static,mode=paper", Straggler::none, true, {}});
  const Unit unit = bench.take(1);
  bench.wait(400);
  bench.report(unit, 4, 400);
  bench.commit(unit, {0, 4});
  REQUIRE(bench.stage.hosts().front()->rate == Approx(1));
  REQUIRE(wasted(bench) == 0);
  SECTION("at once") {
    bench.wait(30);
    bench.give_back(unit, GiveBack::failed, 4);
    CHECK(wasted(bench) == Approx(30));
  }
  SECTION("after it hung") {
    bench.wait(250);
    bench.give_back(unit, GiveBack::failed, 4);
    CHECK(wasted(bench) == Approx(100));
  }
}

TEST_CASE("a cancelled unit wastes what it finished and the part of an item that its host told") {
  StageBench bench(8, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.wait(10);
  bench.report(unit, 2, 10, 0, protocol::RunState::running, 0.25, 0.25);
  bench.give_back(unit, GiveBack::returned);
  CHECK(wasted(bench) >= 2.25);
  CHECK(wasted(bench) <= 3);
}

TEST_CASE("what comes after all was no waste, and a unit that was never begun wastes nothing") {
  StageBench bench(8, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.give_back(unit, GiveBack::returned);
  CHECK(wasted(bench) == 0);
  const Unit again = bench.take(2);
  bench.wait(5);
  bench.give_back(again, GiveBack::returned, again.range.begin + 3);
  CHECK(wasted(bench) == Approx(3));
  bench.commit(again, again.range, true);
  CHECK(wasted(bench) == Approx(0));
}

TEST_CASE("no more waste is taken back than was counted") {
  StageBench bench(10, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.commit(unit, unit.range, true);
  Changes changes;
  bench.recorded.count_use(HostId{1}, {0, 4}, Stage::Use::after_all, changes);
  CHECK(wasted(bench) == 0);
  bench.recorded.count_use(HostId{1}, {0, 1}, Stage::Use::none, changes);
  bench.recorded.count_use(HostId{1}, {0, 4}, Stage::Use::after_all, changes);
  CHECK(wasted(bench) == 0);
  CHECK(bench.stage.hosts().front()->cost_wasted == 0);
}

TEST_CASE("waste outlasts a restart") {
  StageBench bench(10, "static,mode=paper");
  bench.wait(1);
  const Unit unit = bench.take(1);
  bench.wait(5);
  bench.give_back(unit, GiveBack::failed, 3);
  const double before = wasted(bench);
  bench.restart();
  CHECK(wasted(bench) == before);
}
