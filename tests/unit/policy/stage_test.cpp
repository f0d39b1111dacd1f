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
  CHECK(bench.stage.ledger().accepted().total() == 10);
  CHECK_FALSE(bench.ask(1).unit);
  CHECK(bench.stage.host(HostId{1})->rate == Approx(0.5));
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);
}

TEST_CASE("a slot may have one unit ahead, not more") {
  StageBench bench(100);
  bench.take(1);
  bench.take(1, 0, false);
  CHECK(bench.ask(1, 0, false).reason == "a unit waits in this slot already");
  bench.take(1, 1, false);
}

TEST_CASE("given-back items come first, most recent first") {
  StageBench bench(100);
  const Unit a = bench.take(1);
  const Unit b = bench.take(2);
  bench.take(3);
  bench.give_back(a, GiveBack::returned);
  bench.give_back(b, GiveBack::returned);
  CHECK(bench.take(4).range == b.range);
  CHECK(bench.take(5).range == a.range);
  CHECK(bench.take(6).range == Range{3, 4});
}

TEST_CASE("commits are prefixes inside the unit") {
  StageBench bench(100, "static,mode=paper");
  const Unit unit = bench.take(1);
  CHECK(bench.commit(unit, {0, 101}).refusal == "items [0, 101) are outside of unit 1, which is [0, 100)");
  CHECK_FALSE(bench.stage.preview_commit(HostId{2}, unit.id, {0, 1}).known_unit);
  CHECK(bench.commit(unit, {0, 10}).accepted.size() == 1);
  const auto again = bench.commit(unit, {0, 20});
  CHECK(again.accepted == std::vector<Range>{{10, 20}});
  CHECK(again.overlapping == std::vector<Range>{{0, 10}});
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);  // the same host's, sent again
  bench.commit(unit, {20, 30}, true);                     // it ends early: the rest is free
  CHECK(bench.stage.ledger().free().total() == 70);
}

TEST_CASE("items that a unit's host delivered to a server that lost them are free") {
  StageBench bench(100, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.commit(unit, {0, 10});
  CHECK(bench.commit(unit, {30, 40}).accepted == std::vector<Range>{{30, 40}});
  CHECK(bench.stage.ledger().free().ranges() == std::vector<Range>{{10, 30}});
  CHECK(bench.take(2).range == Range{10, 30});
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);
  bench.commit(unit, {40, 100}, true);
  CHECK(bench.stage.ledger().accepted().total() == 80);
}

TEST_CASE("a result behind a gap is no second opinion") {
  StageBench bench(100, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.commit(unit, {0, 10});
  bench.commit(unit, {30, 40});
  const Unit other = bench.take(2);
  bench.commit(other, {10, 30});
  const auto late = bench.commit(other, {10, 30});
  CHECK(late.overlapping == std::vector<Range>{{10, 30}});
}

TEST_CASE(
    "an item that fails is handed out alone, until the caller sets it aside; others of its unit are not") {
  StageBench bench(10, "static,mode=paper");
  const Unit first = bench.take(1);
  bench.commit(first, {0, 4});
  bench.give_back(first, GiveBack::failed, 4);
  REQUIRE(bench.recorded.apply(SizingEvent{"wis,mode=paper,shrink=none"}, bench.now).ok());
  for (int host = 2; host < 4; ++host) {
    for (;;) {
      const Unit unit = bench.take(host);
      if (unit.range.contains(4)) {
        CHECK(unit.range == Range{4, 5});  // alone
        bench.give_back(unit, host == 3 ? GiveBack::set_aside : GiveBack::failed, 4);
        break;
      }
      bench.finish(unit);
    }
  }
  CHECK(bench.stage.ledger().set_aside().ranges() == std::vector<Range>{{4, 5}});
  CHECK(bench.decisions("set-aside") == 1);
  while (!bench.stage.ledger().free().empty()) bench.finish(bench.take(5));
  CHECK_FALSE(bench.stage.complete());
  CHECK(bench.stage.counts(bench.now).accepted == 9);
}

TEST_CASE("an item is set aside at once where the caller knows that it is to blame") {
  StageBench bench(10, "static,mode=paper");
  const Unit unit = bench.take(1);
  bench.give_back(unit, GiveBack::set_aside, 4);
  REQUIRE(bench.recorded.apply(SizingEvent{"wis,mode=paper,shrink=none"}, bench.now).ok());
  CHECK(bench.stage.ledger().set_aside().ranges() == std::vector<Range>{{4, 5}});
  while (!bench.stage.ledger().free().empty()) bench.finish(bench.take(1));
  CHECK(bench.stage.counts(bench.now).accepted == 9);
}

TEST_CASE("a host does not get an item again that failed on it, while others might") {
  StageBench bench(1);
  bench.give_back(bench.take(1), GiveBack::failed, 0);
  const Unit again = bench.take(1);  // nobody else is there
  bench.give_back(again, GiveBack::failed, 0);
  bench.give_back(bench.take(2), GiveBack::returned);
  CHECK(bench.ask(1).reason == "the free items made a kernel fail on this host");
  CHECK(bench.finish(bench.take(2)).accepted.size() == 1);
  CHECK(bench.stage.complete());
}

TEST_CASE("a dispute goes to a third host and holds the stage open until it is decided") {
  StageBench bench(4, "static,mode=paper");
  bench.finish(bench.take(1));
  REQUIRE(bench.stage.complete());
  bench.recorded.apply(DisputeEvent{{1, 3}, {HostId{1}, HostId{2}}}, bench.now, bench.changes);
  CHECK_FALSE(bench.stage.complete());
  CHECK_FALSE(bench.ask(1).unit);
  CHECK_FALSE(bench.ask(2).unit);
  const Unit check = bench.take(3);
  CHECK((check.kind == UnitKind::check && check.range == Range{1, 3}));
  bench.give_back(check, GiveBack::returned);
  CHECK_FALSE(bench.ask(3).unit);
  const Unit other = bench.take(4);
  CHECK(bench.finish(other).overlapping == std::vector<Range>{{1, 3}});
  CHECK(bench.stage.counts(bench.now).cost_wasted == 0);
  bench.recorded.apply(ResolveEvent{{1, 3}, true}, bench.now, bench.changes);
  CHECK(bench.stage.complete());
  bench.recorded.apply(DisputeEvent{{0, 1}, {HostId{1}, HostId{2}}}, bench.now, bench.changes);
  bench.recorded.apply(ResolveEvent{{0, 1}, false}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.stage.ledger().set_aside().total() == 1);
  bench.recorded.apply(RejectEvent{{2, 4}, "its host lies"}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.stage.ledger().free().ranges() == std::vector<Range>{{2, 4}});
}

TEST_CASE("what a check had delivered and was decided is not disputed again by a restart") {
  StageBench bench(4, "static,mode=paper");
  bench.finish(bench.take(1));
  bench.recorded.apply(DisputeEvent{{1, 3}, {HostId{1}}}, bench.now, bench.changes);
  const Unit check = bench.take(3);
  REQUIRE((check.kind == UnitKind::check && check.range == Range{1, 3}));
  CHECK(bench.commit(check, {1, 2}).overlapping == std::vector<Range>{{1, 2}});
  bench.recorded.apply(ResolveEvent{{1, 2}, true}, bench.now, bench.changes);
  bench.restart();
  CHECK(bench.stage.ledger().disputed().ranges() == std::vector<Range>{{2, 3}});
  CHECK(bench.finish(check).overlapping == std::vector<Range>{{2, 3}});
  CHECK_FALSE(bench.stage.complete());
  bench.recorded.apply(ResolveEvent{{2, 3}, true}, bench.now, bench.changes);
  CHECK(bench.stage.complete());
}

TEST_CASE("a restart loses nothing that was stored, and remembered units may deliver late") {
  StageBench bench(100);
  const Unit done = bench.take(1);
  bench.finish(done);
  const Unit open = bench.take(1);
  const Unit given_back = bench.take(2);
  bench.give_back(given_back, GiveBack::returned);
  const Unit closed = bench.see(given_back);
  bench.restart();
  CHECK(bench.stage.ledger().accepted().total() == 1);
  CHECK(bench.see(open).state == UnitState::open);
  CHECK(bench.commit(given_back, given_back.range).known_unit == false);
  bench.recorded.apply(RememberEvent{closed}, bench.now);
  CHECK(bench.commit(given_back, given_back.range, true).accepted == std::vector<Range>{given_back.range});
  CHECK(bench.finish(open).accepted.size() == 1);
}

TEST_CASE("enough ends everything at once") {
  StageBench bench(100);
  const Unit unit = bench.take(1);
  bench.recorded.apply(EnoughEvent{}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.stage.complete());
  CHECK(bench.report(unit, 0).action == protocol::UnitAction::cancel);
  CHECK_FALSE(bench.commit(unit, unit.range).refusal.empty());
  CHECK_FALSE(bench.stage.has_work_for(HostId{1}, bench.now));
}

TEST_CASE("a stage's rules can be switched while it runs") {
  StageBench bench(100);
  bench.take(1);
  CHECK_FALSE(bench.recorded.apply(SizingEvent{"nonsense"}, bench.now).ok());
  REQUIRE(bench.recorded.apply(SizingEvent{"static,mode=paper"}, bench.now).ok());
  CHECK(bench.take(2).range.size() == 50);
  CHECK(straggler_from("duplicate-once").value() == Straggler::duplicate_once);
  CHECK_FALSE(straggler_from("hope").ok());
}

TEST_CASE("a shortest unit above the longest one is the longest one") {
  StageSetup setup{100, {}, "gleaner", Straggler::split, true, {}};
  setup.rules.unit_minimum = 200;
  setup.rules.unit_maximum = 10;
  setup.benchmark_worth = 1 / 0.85;
  StageBench bench(setup);
  CHECK(bench.take(1).range.size() <= 10);  // of a second each
}

TEST_CASE("pace: constants shrink with the stage and never exceed the rules") {
  const EndgameRules rules;
  const EndgameRules hours = paced(rules, 7200);
  CHECK(hours.heartbeat == 60);
  CHECK(hours.silence(hours.heartbeat) == 85);
  CHECK(hours.silence(hours.heartbeat_endgame) == 40);
  CHECK(hours.unit_maximum == 1200);
  const EndgameRules quick = paced(rules, 40);
  CHECK(quick.heartbeat == 1);
  CHECK(quick.silence(quick.heartbeat) == 2.5);
  CHECK(quick.unit_maximum == 2);
  CHECK(quick.park == Approx(0.4));
  EndgameRules short_rules;
  short_rules.unit_maximum = 0.5;
  CHECK(paced(short_rules, 1e6).unit_maximum == 0.5);
}
