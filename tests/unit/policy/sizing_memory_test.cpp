// What strategies remember of a stage and its hosts survives a restart, and a change of strategy begins
// afresh.
#include "tests/catch.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// Rounds of three hosts of unequal speed, known from one item each; each round ends with everything
// delivered. What the sizing strategy handed out, with its reasons.
std::vector<std::string> rounds(const std::string& sizing, bool restarts) {
  StageBench bench(5000, "rts,mode=paper");
  for (int host = 1; host <= 3; ++host) (void)bench.finish(bench.take(host));
  REQUIRE(bench.recorded.apply(SizingEvent{sizing}, bench.now).ok());
  bench.setup.sizing = sizing;
  std::vector<std::string> log;
  for (int round = 0; round < 8; ++round) {
    std::vector<Unit> units;
    for (int host = 1; host <= 3; ++host) {
      const Grant grant = bench.ask(host);
      if (!grant.unit) continue;
      units.push_back(*bench.stage.unit(*grant.unit));
      if (units.back().kind != UnitKind::fresh) continue;
      const Range range = units.back().range;
      log.push_back(std::to_string(range.begin) + "-" + std::to_string(range.end) + " " +
                    units.back().reason);
    }
    for (const Unit& unit : units) {
      bench.wait(7);
      const double seconds = static_cast<double>(unit.range.size() * unit.host.value) + round % 3;
      (void)bench.report(unit, unit.range.begin + unit.range.size() / 2, seconds / 3);
      bench.wait(3);
      (void)bench.report(unit, unit.range.end, seconds);
      (void)bench.finish(unit);
    }
    if (restarts) bench.restart();
  }
  return log;
}

}  // namespace

TEST_CASE("a restart changes no decision of a strategy with a memory") {
  for (const char* sizing : {"fac", "fac2", "tss", "tss,l=3", "wf", "awf-b", "awf-c", "awf-d", "awf-e", "af",
                             "alpha-gss", "wfac", "gss"}) {
    INFO(sizing);
    const auto expected = rounds(std::string(sizing) + ",mode=paper", false);
    CHECK(expected.size() >= 9);
    CHECK(rounds(std::string(sizing) + ",mode=paper", true) == expected);
  }
}

TEST_CASE("measured times reach the strategy") {
  StageBench bench(5000, "af,mode=paper");
  const Unit unit = bench.take(1);
  bench.wait(100);
  (void)bench.report(unit, unit.range.begin + 100, 50);
  (void)bench.report(unit, unit.range.begin + 200, 150);
  const WorkTimes& times = bench.stage.host(HostId{1})->times;
  CHECK(times.pieces == 2);
  CHECK(times.mean() == Approx(0.75));
  CHECK(times.variance() == Approx(12.5));  // 100 (0.5 - 0.75)^2 + 100 (1 - 0.75)^2
  CHECK(times.units == 0);
  bench.wait(50);
  (void)bench.report(unit, unit.range.end, 200);
  (void)bench.finish(unit);
  CHECK(bench.stage.host(HostId{1})->times.units == 1);
  CHECK(bench.stage.host(HostId{1})->times.weighted_elapsed == Approx(200));  // never less than was computed
}

TEST_CASE("another strategy begins with an empty memory") {
  StageBench bench(1000, "fac2,mode=paper");
  (void)bench.take(1);
  CHECK(bench.stage.host(HostId{1})->memory.units == 1);
  REQUIRE(bench.recorded.apply(SizingEvent{"tss,mode=paper"}, bench.now).ok());
  CHECK(bench.stage.host(HostId{1})->memory == StageMemory{});
  const Unit second = bench.take(2);
  CHECK(second.range.size() == 125);  // of the 500 that fac2 left: two workers
}
