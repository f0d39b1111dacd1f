// Stage: the free pool, commits, give-backs, failures, leases, restarts, disputes. The endgame has its own file.
#include "server/policy/stage.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// A stage with a clock and unit ids; invariants are checked after every event.
struct Bench {
  explicit Bench(std::int64_t items, const std::string& sizing = "rts,mode=paper", Straggler straggler = Straggler::split)
      : stage(StageSetup{items, {}, sizing, straggler, true, {}}) {}

  Grant ask(int host, int slot = 0, bool urgent = true) {
    Requester requester;
    requester.host = HostId{host};
    requester.slot = slot;
    requester.urgent = urgent;
    requester.performance = 1;
    requester.unit = UnitId{next_unit};
    const Grant grant = stage.request(requester, now, changes);
    if (grant.unit) ++next_unit;
    stage.check_invariants();
    return grant;
  }
  const Unit& take(int host, int slot = 0, bool urgent = true) {
    const Grant grant = ask(host, slot, urgent);
    INFO(grant.reason);
    REQUIRE(grant.unit);
    return *stage.unit(*grant.unit);
  }
  CommitOutcome commit(const Unit& unit, Range range, bool last = false) {
    auto outcome = stage.commit(unit.host, unit.id, range, last, now, changes);
    stage.check_invariants();
    return outcome;
  }
  CommitOutcome finish(const Unit& unit) { return commit(unit, {unit.committed, unit.range.end}, true); }
  protocol::UnitOrder report(const Unit& unit, std::int64_t finished, double rate = 0,
                             protocol::RunState state = protocol::RunState::running, double running = 0) {
    protocol::UnitReport report;
    report.unit = unit.id;
    report.finished = finished;
    report.rate = rate;
    report.state = state;
    report.running_seconds = running;
    auto order = stage.report(unit.host, report, now, changes);
    stage.check_invariants();
    return order;
  }
  void wait(double seconds) { now += from_seconds(seconds); }
  void tick() {
    stage.tick(now, changes);
    stage.check_invariants();
  }
  std::int64_t decisions(const std::string& kind) const {
    return std::count_if(changes.decisions.begin(), changes.decisions.end(),
                         [&](const Decision& decision) { return decision.kind == kind; });
  }

  Stage stage;
  Changes changes;
  Timestamp now{std::chrono::hours{24 * 365 * 56}};
  std::int64_t next_unit = 1;
};

}  // namespace

TEST_CASE("a stage is handed out, delivered and complete") {
  Bench bench(10, "static,mode=grid");
  int rounds = 0;
  while (!bench.stage.complete()) {
    REQUIRE(++rounds < 100);
    const Unit& unit = bench.take(1);
    bench.wait(2);
    CHECK(bench.finish(unit).accepted == std::vector<Range>{unit.range});
    CHECK(unit.state == UnitState::done);
  }
  CHECK(bench.stage.accepted().total() == 10);
  CHECK_FALSE(bench.ask(1).unit);
  CHECK(bench.stage.host(HostId{1})->rate == Approx(0.5));
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);
}
