// A stage with a clock and unit ids for tests; invariants are checked after every event.
#pragma once

#include <algorithm>
#include <map>

#include "server/policy/journal/recorded_stage.h"
#include "tests/catch.h"

namespace gleaner::policy {

class StageBench {
 public:
  explicit StageBench(std::int64_t items, const std::string& sizing = "rts,mode=paper",
                      Straggler straggler = Straggler::split)
      : StageBench(StageSetup{items, {}, sizing, straggler, true, {}}) {}
  explicit StageBench(const StageSetup& with) : setup(with), recorded(with) {}
  StageBench(const StageBench&) = delete;
  StageBench& operator=(const StageBench&) = delete;

  Grant ask(int host, int slot = 0, bool urgent = true) {
    Requester requester;
    requester.host = HostId{host};
    requester.slot = slot;
    requester.urgent = urgent;
    requester.performance = performance;
    if (const auto said = watts.find(host); said != watts.end()) requester.watts = said->second;
    requester.unit = UnitId{next_unit};
    const Grant grant = recorded.apply(RequestEvent{requester}, now, changes);
    if (grant.unit) ++next_unit;
    stage.check_invariants();
    return grant;
  }
  // A copy of the unit as it was handed out.
  Unit take(int host, int slot = 0, bool urgent = true) {
    const Grant grant = ask(host, slot, urgent);
    INFO(grant.reason);
    REQUIRE(grant.unit);
    return *stage.unit(*grant.unit);
  }
  CommitOutcome commit(const Unit& unit, Range range, bool last = false) {
    auto outcome = recorded.apply(CommitEvent{unit.host, unit.id, range, last}, now, changes);
    stage.check_invariants();
    return outcome;
  }
  // Delivers all of it up to its present end.
  CommitOutcome finish(const Unit& unit) {
    const Unit& present = *stage.unit(unit.id);
    return commit(unit, {present.committed, present.range.end}, true);
  }
  protocol::UnitOrder report(const Unit& unit, std::int64_t finished, double running_seconds = 0,
                             double rate = 0, protocol::RunState state = protocol::RunState::running,
                             double item_seconds = 0, double item_share = 0) {
    protocol::UnitReport report;
    report.unit = unit.id;
    report.finished = finished;
    report.rate = rate;
    report.state = state;
    report.running_seconds = running_seconds;
    report.item_seconds = item_seconds;
    report.item_share = item_share;
    auto order = recorded.apply(ReportEvent{unit.host, report}, now, changes);
    stage.check_invariants();
    return order;
  }
  void give_back(const Unit& unit, GiveBack why, std::int64_t item = 0) {
    recorded.apply(GiveBackEvent{unit.host, unit.id, why, item, "a test"}, now, changes);
    stage.check_invariants();
  }
  void wait(double seconds) { now += from_seconds(seconds); }
  void tick() {
    recorded.apply(TickEvent{}, now, changes);
    stage.check_invariants();
  }
  // The server stops and starts again from what it stored.
  void restart() {
    std::vector<Unit> units;
    for (const Unit* unit : stage.open_units()) units.push_back(*unit);
    std::vector<HostRecord> records;
    for (const HostRecord* record : stage.hosts()) records.push_back(*record);
    RecordedStage fresh(setup);
    fresh.apply(RestoreEvent{stage.ledger().accepted().ranges(), units, records,
                             stage.ledger().set_aside().ranges(), stage.ledger().undecided().ranges()},
                now);
    recorded = std::move(fresh);
    stage.check_invariants();
  }
  [[nodiscard]] std::int64_t decisions(const std::string& kind) const {
    return std::count_if(changes.decisions.begin(), changes.decisions.end(),
                         [&](const Decision& decision) { return decision.kind == kind; });
  }
  [[nodiscard]] const Unit& see(const Unit& unit) const { return *stage.unit(unit.id); }

  StageSetup setup;
  RecordedStage recorded;                // without a log
  const Stage& stage = recorded.view();  // to be asked
  Changes changes;
  Timestamp now{std::chrono::hours{24 * 365 * 56}};
  std::int64_t next_unit = 1;
  double performance = 1;
  std::map<int, double> watts;  // of hosts whose owners said
};

}  // namespace gleaner::policy
