// The comparison rules: what an idle slot gets when nothing is free, rule by rule, and the leases they share.
#include <set>

#include "server/policy/stage/stage.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// `hosts` hosts take one item each of `items`; host i computes at rate i (its benchmark says so).
struct Outstanding {
  Outstanding(Straggler rule, int hosts, std::int64_t items, double lease_factor = 0)
      : bench(setup(rule, items, lease_factor)) {
    for (int host = 1; host <= hosts; ++host) {
      bench.performance = host;
      units.push_back(bench.take(host));
    }
  }
  static StageSetup setup(Straggler rule, std::int64_t items, double lease_factor) {
    StageSetup setup;
    setup.items = items;
    setup.sizing = "rts,mode=paper";
    setup.straggler = rule;
    setup.rules.lease_factor = lease_factor;
    setup.benchmark_worth = 1.0 / 1000;  // an item takes 1000 s and more
    return setup;
  }
  StageBench bench;
  std::vector<Unit> units;
};

}  // namespace

TEST_CASE("every straggler rule has a name that leads back to it, and a line that explains it") {
  const auto rules = straggler_rules();
  CHECK(rules.size() == 9);
  std::set<int> numbers;
  for (const StragglerInfo& info : rules) {
    CHECK(straggler_from(info.name).value() == info.rule);
    CHECK(name_of(info.rule) == info.name);
    CHECK_FALSE(info.summary.empty());
    numbers.insert(static_cast<int>(info.rule));
  }
  CHECK(numbers == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9});  // stored: never another meaning
  CHECK(straggler_from("hope").error().message ==
        "there is no straggler rule 'hope'; choose one of split, duplicate-once, none, deadline, hadoop, "
        "late, spark, wqr, rdlb");
}

TEST_CASE("rdlb copies unit after unit in turn, without a limit, never on the same host") {
  Outstanding all(Straggler::rdlb, 3, 3);
  std::vector<UnitId> copied;
  for (int host = 4; host <= 10; ++host) copied.push_back(all.bench.take(host).group);
  std::vector<UnitId> turn;
  for (int i = 0; i < 7; ++i) turn.push_back(all.units[static_cast<std::size_t>(i % 3)].id);
  CHECK(copied == turn);
  for (int i = 0; i < 40; ++i) CHECK(all.bench.ask(4, 1 + i).unit.has_value() == (i < 2));
  CHECK(all.bench.ask(4, 50).reason.find("holds every") != std::string::npos);
}

TEST_CASE("wqr draws a unit at random and never makes a third instance") {
  Outstanding all(Straggler::wqr, 6, 6);
  std::vector<UnitId> copied;
  for (int host = 7; host <= 12; ++host) copied.push_back(all.bench.take(host).group);
  std::vector<UnitId> in_order = copied;
  std::sort(in_order.begin(), in_order.end());
  CHECK(std::adjacent_find(in_order.begin(), in_order.end()) == in_order.end());
  CHECK(copied != in_order);  // drawn, not in turn (with this history)
  CHECK_FALSE(all.bench.ask(13).unit);
  Outstanding again(Straggler::wqr, 6, 6);
  for (int host = 7; host <= 12; ++host)
    CHECK(again.bench.take(host).group == copied[static_cast<std::size_t>(host - 7)]);
}

TEST_CASE("late copies the slow unit that would end last, not on a slow host, within a tenth of the slots") {
  Outstanding all(Straggler::late, 12, 12);
  all.bench.wait(300);
  for (const Unit& unit : all.units) all.bench.report(unit, unit.range.begin, 300, 0);
  all.bench.performance = 6;
  const Unit first = all.bench.take(20);  // no progress at all: the first of those that never end
  CHECK(first.group == all.units.front().id);
  const Grant second = all.bench.ask(21);
  CHECK_FALSE(second.unit);
  CHECK(second.reason.find("a tenth of the slots") != std::string::npos);
  all.bench.finish(all.bench.see(first));
  all.bench.performance = 1;
  CHECK(all.bench.ask(22).reason.find("slowest quarter") != std::string::npos);
  all.bench.performance = 6;
  CHECK(all.bench.take(23).group == all.units[1].id);
}

TEST_CASE("hadoop copies what is a fifth of a unit below the average progress, after a minute and once") {
  Outstanding all(Straggler::hadoop, 1, 3);
  for (int i = 0; i < 2; ++i) {
    const Unit quick = all.bench.take(2);
    all.bench.wait(10);
    all.bench.finish(quick);
  }
  CHECK(all.bench.ask(3).reason == "nothing is free, and no unit is a fifth below the average progress");
  all.bench.wait(45);
  const Unit copy = all.bench.take(3);
  CHECK((copy.kind == UnitKind::copy && copy.group == all.units.front().id));
  CHECK_FALSE(all.bench.ask(4).unit);
  Outstanding alike(Straggler::hadoop, 4, 4);  // nothing is below the average of what is alike
  alike.bench.wait(300);
  CHECK_FALSE(alike.bench.ask(5).unit);
}

TEST_CASE("spark waits until nine tenths are done, then copies what runs for three times the median") {
  Outstanding all(Straggler::spark, 1, 12);
  const Unit slow = all.units.front();
  for (int i = 0; i < 8; ++i) {
    const Unit quick = all.bench.take(2);
    all.bench.wait(10);
    all.bench.finish(quick);
  }
  for (int host = 3; host <= 5; ++host) all.units.push_back(all.bench.take(host));
  CHECK_FALSE(all.bench.ask(6).unit);  // 8 of 12 done
  for (int host = 3; host <= 5; ++host) {
    all.bench.wait(10);
    all.bench.finish(all.units[static_cast<std::size_t>(host - 2)]);
  }
  all.bench.wait(11);  // the units are looked at every ten seconds
  const Unit copy = all.bench.take(6);
  CHECK((copy.kind == UnitKind::copy && copy.group == slow.id));
  CHECK_FALSE(all.bench.ask(7).unit);
}

TEST_CASE("a deadline of four estimates: then, and not before, the next host gets another instance") {
  Outstanding all(Straggler::deadline, 1, 2);  // 1000 s estimated by the benchmark (x .85: 1176 s)
  all.bench.wait(4600);
  all.bench.performance = 1;
  const Unit fresh = all.bench.take(2);
  CHECK(fresh.kind == UnitKind::fresh);
  CHECK_FALSE(all.bench.ask(3).unit);
  all.bench.wait(120);
  const Unit again = all.bench.take(3);
  CHECK((again.kind == UnitKind::copy && again.group == all.units.front().id));
  CHECK_FALSE(all.bench.ask(4).unit);  // once
  CHECK(all.bench.finish(all.bench.see(again)).accepted.size() == 1);
  CHECK(all.bench.see(all.units.front()).state == UnitState::cancelled);
}

TEST_CASE("a late unit goes out again before what is free, and other rules may have leases, too") {
  Outstanding all(Straggler::wqr, 1, 3, 4);
  all.bench.wait(5000);
  CHECK(all.bench.take(2).group == all.units.front().id);
  CHECK(all.bench.take(3).kind == UnitKind::fresh);
  Outstanding never(Straggler::wqr, 1, 3);
  never.bench.wait(5000);
  CHECK(never.bench.take(2).kind == UnitKind::fresh);
}

TEST_CASE("a copy starts at the committed prefix, not at what was only reported") {
  for (const char* name : {"duplicate-once", "rdlb", "wqr"}) {
    StageBench bench(StageSetup{10, {}, "static,mode=paper", straggler_from(name).value(), false, {}});
    const Unit unit = bench.take(1);
    bench.wait(10);
    bench.report(unit, 6, 10, 0.6);
    bench.commit(unit, {0, 4});
    CHECK(bench.take(2).range == Range{4, 10});
  }
}

TEST_CASE("a rule can be switched while copies are out") {
  Outstanding all(Straggler::rdlb, 2, 2);
  for (int host = 3; host < 40; ++host) all.bench.take(host);  // more holders than other rules allow
  REQUIRE(all.bench.recorded.apply(StragglerEvent{name_of(Straggler::split)}, all.bench.now).ok());
  all.bench.restart();
  all.bench.wait(1000);
  all.bench.tick();
  for (const Unit& unit : all.units) all.bench.finish(unit);
  CHECK(all.bench.stage.complete());
  CHECK(all.bench.stage.open_units().empty());
}
