// What follows from failed kernels, for the unit, its item, the host and the application.
#include "tests/unit/project/bench.h"

using namespace gleaner;
using namespace gleaner::policy;
using protocol::FailureKind;

namespace {

// Delivers an item of the problem, so that the host is known to work.
void prove(ProjectBench& bench, ProblemId problem, std::int64_t host) {
  (void)bench.deliver(problem, bench.take(problem, host));
}

}  // namespace

TEST_CASE("an item that fails on two hosts that deliver others is set aside") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 9, "none");
  for (const std::int64_t host : {1, 2}) {
    bench.add_host(host);
    prove(bench, problem, host);
  }
  const Unit first = bench.take(problem, 1);
  const ProjectChanges once = bench.fail(problem, first);
  CHECK(once.counted);
  CHECK(bench.stage(problem).view().ledger().free().contains(first.range));
  const Unit again = bench.take(problem, 2);
  REQUIRE(again.range == first.range);
  const ProjectChanges twice = bench.fail(problem, again);
  CHECK(bench.stage(problem).view().ledger().set_aside().contains(first.range));
  CHECK(twice.rulings.empty());
}

TEST_CASE("what a host cannot verify is given back and counts against nobody") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 9, "none");
  const Unit unit = bench.take(problem, 1);
  const ProjectChanges changes = bench.fail(problem, unit, FailureKind::untrusted);
  CHECK_FALSE(changes.counted);
  REQUIRE(changes.rulings.size() == 1);
  CHECK(changes.rulings.front().kind == Ruling::Kind::hold_pair);
  CHECK(bench.stage(problem).view().unit(unit.id)->state != UnitState::open);
}

TEST_CASE("an application that fails on most hosts stops its running problems, not those of others") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 9, "none"), paused = bench.add_problem(2, 9, "none"),
                  same = bench.add_problem(3, 9, "none"),
                  other = bench.add_problem(4, 9, "none", ApplicationId{2});
  bench.project.put_problem(paused, {ProjectBench::app, {}, false});
  std::vector<ProblemId> stopped;
  for (std::int64_t host = 1; host <= 4 && stopped.empty(); ++host)
    stopped = bench.fail(problem, bench.take(problem, host)).paused;
  CHECK(stopped == std::vector<ProblemId>{problem, same});
  CHECK(bench.stage(other).view().ledger().set_aside().empty());
}

TEST_CASE("a relay rules over hosts only") {
  ProjectBench bench(Rule::hosts);
  const ProblemId problem = bench.add_problem(1, 99, "none");
  for (std::int64_t host = 1; host <= 6; ++host) {
    const ProjectChanges changes = bench.fail(problem, bench.take(problem, host));
    CHECK(changes.paused.empty());
    for (const Ruling& ruling : changes.rulings)
      CHECK((ruling.kind == Ruling::Kind::hold_pair || ruling.kind == Ruling::Kind::hold_host));
  }
  CHECK(bench.stage(problem).view().ledger().set_aside().empty());
}

TEST_CASE("a relay's unit goes on when a host under it fails, and counts against that host") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 9, "none");
  const Unit unit = bench.take(problem, 1);
  const ProjectChanges changes = bench.fail(problem, unit, FailureKind::not_executable, 5);
  CHECK(changes.stages.empty());
  CHECK(bench.stage(problem).view().unit(unit.id)->state == UnitState::open);
  CHECK(bench.project.is_held(HostId{5}, ProjectBench::app, bench.now));
  CHECK_FALSE(bench.project.is_held(HostId{1}, ProjectBench::app, bench.now));
}
