// The endgame rules, one by one (server/policy/POLICY.md, R5-R8).
#include "server/policy/stage/stage.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// Host 1 holds all items (of cost 1) and has finished `finished` of them at one a second.
struct Held {
  explicit Held(std::int64_t items, std::int64_t finished, Straggler rule = Straggler::split,
                bool may_split = true)
      : bench(StageSetup{items, {}, "static,mode=paper", rule, may_split, {}}), unit(bench.take(1)) {
    REQUIRE(unit.range == Range{0, items});
    bench.wait(static_cast<double>(finished));
    bench.report(unit, finished, static_cast<double>(finished), 1);
    bench.commit(unit, {0, finished});
    REQUIRE(bench.stage.ledger().free().empty());
  }
  StageBench bench;
  Unit unit;
};

// Tells at `seconds` a report that everything goes on as before.
void go_on(Held& held, double seconds) {
  const double step = held.bench.stage.heartbeat_seconds(held.bench.now);
  const Timestamp until = held.bench.now + from_seconds(seconds);
  const Timestamp from = held.bench.now;
  const auto finished = held.bench.see(held.unit).finished;
  const double running = held.bench.see(held.unit).running_seconds;
  while (held.bench.now < until) {
    held.bench.wait(std::min(step, to_seconds(until - held.bench.now)));
    const double passed = to_seconds(held.bench.now - from);
    held.bench.report(held.unit, finished + static_cast<std::int64_t>(passed), running + passed, 1);
  }
}

}  // namespace

TEST_CASE("R7: a split lets both holders end together") {
  Held held(1000, 100);
  held.bench.performance = 2;  // twice the first host, of which R1 believes 85 %
  const Unit half = held.bench.take(2);
  CHECK(half.kind == UnitKind::split);
  CHECK(half.range.end == 1000);
  const double holder = static_cast<double>(half.range.begin - 100);
  const double helper = static_cast<double>(half.range.size()) / 1.7;
  CHECK(std::abs(holder - helper) <
        15);  // the request delay, half an item, and what an interruption may cost
  const auto order = held.bench.report(held.unit, 101, 101, 1);
  CHECK(order.action == protocol::UnitAction::go_on);
  CHECK(order.end == half.range.begin);
  CHECK(held.bench.stage.host(HostId{1})->cuts == 1);
  CHECK(held.bench.decisions("cut") == 1);
}

TEST_CASE("R7: a cut is beyond where the holder will be when it hears of it") {
  Held held(1000, 960);
  held.bench.performance = 1000;
  const double heartbeat = held.bench.stage.heartbeat_seconds(held.bench.now);
  CHECK(heartbeat == Approx(15));
  const Unit tail = held.bench.take(2);
  REQUIRE(tail.kind == UnitKind::split);
  CHECK(tail.range.begin > 960 + static_cast<std::int64_t>(heartbeat));
  CHECK(tail.range.begin < 960 + static_cast<std::int64_t>(heartbeat) + 8);
}

TEST_CASE("R7: a waiting unit can be taken whole") {
  StageBench bench(StageSetup{1000, {}, "static", Straggler::split, true, {}});
  Unit first = bench.take(1);
  bench.wait(50);
  bench.report(first, first.range.begin + 25, 50, 0.5);
  std::vector<Unit> all{first};
  while (!bench.stage.ledger().free().empty()) all.push_back(bench.take(1, 0, all.size() > 1));
  REQUIRE(all.size() > 2);
  bench.performance = 5;
  const Unit helper = bench.take(2);
  CHECK(helper.kind == UnitKind::split);
  CHECK(helper.range.end == all.back().range.end);
  CHECK(helper.range.begin < all.back().range.begin + all.back().range.size() / 2);
}

TEST_CASE("R6: the range of a silent holder is re-covered from the tail") {
  Held held(1000, 100);
  held.bench.wait(200);
  const Unit first = held.bench.take(2);
  CHECK(first.kind == UnitKind::recover);
  CHECK(first.range.end == 1000);
  CHECK(first.range.begin > 600);
  const Unit second = held.bench.take(3);
  CHECK(second.kind == UnitKind::recover);
  CHECK(second.range.end == first.range.begin);
  CHECK(held.bench.see(held.unit).range.end == second.range.begin);
  // The holder returns: it keeps what is left, and what it finished meanwhile counts.
  held.bench.wait(1);
  const auto order = held.bench.report(held.unit, 300, 300, 1);
  CHECK(order.action == protocol::UnitAction::go_on);
  CHECK(order.end == second.range.begin);
  CHECK(held.bench.commit(held.unit, {100, 300}).accepted == std::vector<Range>{{100, 300}});
}

TEST_CASE("R6: a paused holder is re-covered beyond what it has finished") {
  Held held(100, 90);
  held.bench.wait(5);
  held.bench.report(held.unit, 95, 95, 1, protocol::RunState::paused);
  const Unit rest = held.bench.take(2);
  CHECK(rest.kind == UnitKind::recover);
  CHECK(rest.range == Range{95, 100});
  CHECK(rest.reason.find("paused") != std::string::npos);
  CHECK(held.bench.see(held.unit).range == Range{0, 95});
  CHECK(held.bench.commit(held.unit, {90, 95}).accepted.size() == 1);
  CHECK(held.bench.see(held.unit).state == UnitState::done);
}

TEST_CASE("R6: what a paused holder never delivers is computed anew") {
  Held held(100, 90);
  held.bench.wait(10);
  held.bench.report(held.unit, 100, 100, 1, protocol::RunState::paused);
  CHECK_FALSE(held.bench.ask(2).unit);
  for (int i = 0; i < 300; ++i) {
    held.bench.wait(1);
    held.bench.report(held.unit, 100, 100, 1, protocol::RunState::paused);
  }
  const Unit anew = held.bench.take(2);
  CHECK(anew.kind == UnitKind::recover);
  CHECK(anew.range.end == 100);
}

TEST_CASE("pitfall 3: a holder at two per cent of its rate is stalled, not halved for ever") {
  Held held(1000, 100);
  for (int i = 0; i < 5; ++i) {
    held.bench.wait(15);
    held.bench.report(held.unit, 101, 115 + 15 * i, 0.01);
  }
  int units = 0;
  while (!held.bench.stage.complete()) {
    REQUIRE(++units < 40);
    if (const Grant next = held.bench.ask(2); next.unit) {
      const Unit unit = *held.bench.stage.unit(*next.unit);
      CHECK(unit.kind == (unit.range.size() == 1 ? UnitKind::copy : UnitKind::recover));
      held.bench.wait(static_cast<double>(unit.range.size()));
      held.bench.finish(unit);
    } else {
      held.bench.wait(20);
    }
    if (held.bench.see(held.unit).state == UnitState::open) held.bench.report(held.unit, 101, 200, 0.01);
  }
}

TEST_CASE("R6: a single silent item is copied, and its holder may still win") {
  Held held(100, 99);
  held.bench.wait(200);
  const Unit copy = held.bench.take(2);
  CHECK(copy.range == Range{99, 100});
  CHECK(copy.group == held.unit.group);
  CHECK(held.bench.commit(held.unit, {99, 100}, true).accepted.size() == 1);
  CHECK(held.bench.see(copy).state == UnitState::cancelled);
  CHECK(held.bench.report(copy, 99).action == protocol::UnitAction::cancel);
  CHECK(held.bench.stage.complete());
}

TEST_CASE("R8: what cannot be split is copied, not on the same host, and the loser is cancelled") {
  Held held(1000, 995);
  held.bench.performance = 1;
  CHECK_FALSE(held.bench.ask(1, 1).unit);  // another slot of the same host
  held.bench.performance = 20;
  const Unit copy = held.bench.take(2);
  CHECK(copy.kind == UnitKind::copy);
  CHECK(copy.range == Range{995, 1000});
  CHECK_FALSE(held.bench.ask(2, 1).unit);
  held.bench.wait(1);
  CHECK(held.bench.finish(copy).accepted == std::vector<Range>{{995, 1000}});
  CHECK(held.bench.see(held.unit).state == UnitState::cancelled);
  const auto late = held.bench.commit(held.unit, {995, 1000}, true);
  CHECK(late.accepted.empty());
  CHECK(late.overlapping == std::vector<Range>{{995, 1000}});
  CHECK(held.bench.stage.counts(held.bench.now).cost_wasted == Approx(5));
}

TEST_CASE("R8: a copy that ends no sooner than another is not made, unless that one stalls") {
  Held held(1000, 990, Straggler::split, false);
  held.bench.performance = 2;
  const Unit second = held.bench.take(2);
  CHECK(second.kind == UnitKind::copy);
  CHECK_FALSE(held.bench.ask(3).unit);
  held.bench.wait(0.5);
  held.bench.report(second, 990, 0.5, 0, protocol::RunState::paused);
  CHECK(held.bench.take(3).kind == UnitKind::copy);
  CHECK_FALSE(held.bench.ask(4).unit);
}

TEST_CASE("R8: copies stay within the budget, except one that halves the wait for the last unit") {
  Held held(1000, 850, Straggler::split, false);
  held.bench.performance = 1.5;
  CHECK_FALSE(held.bench.ask(2).unit);  // 150 of 1000 are more than a tenth
  go_on(held, 60);
  CHECK(held.bench.take(2).kind == UnitKind::copy);  // 90
  CHECK_FALSE(held.bench.ask(3).unit);

  Held last(1000, 850, Straggler::split, false);
  last.bench.performance = 20;
  CHECK(last.bench.take(2).kind == UnitKind::copy);
  CHECK_FALSE(last.bench.ask(3).unit);
}

TEST_CASE("R7: items computed beyond a cut are accepted while they are open") {
  Held held(1000, 100);
  const Unit half = held.bench.take(2);
  const std::int64_t cut = half.range.begin;
  const auto outcome = held.bench.commit(held.unit, {100, cut + 3});
  CHECK(outcome.accepted == std::vector<Range>{{100, cut + 3}});
  CHECK(held.bench.see(held.unit).state == UnitState::done);
  const auto rest = held.bench.finish(half);
  CHECK(rest.accepted == std::vector<Range>{{cut + 3, 1000}});
  CHECK(rest.overlapping == std::vector<Range>{{cut, cut + 3}});
  CHECK(held.bench.stage.complete());
}

TEST_CASE("R7: what a returning host finished is taken in, and cuts off the tail of whoever computes it") {
  Held held(1000, 100);
  held.bench.wait(5000);
  std::vector<Unit> taken;
  for (int host = 2; host < 12; ++host) {
    if (held.bench.ask(host).unit) taken.push_back(*held.bench.stage.open_units().back());
  }
  REQUIRE(taken.size() == 10);
  const auto outcome = held.bench.commit(held.unit, {100, 1000}, true);
  CHECK(outcome.accepted == std::vector<Range>{{100, 1000}});
  for (const Unit& unit : taken) CHECK(held.bench.see(unit).state == UnitState::cancelled);
  CHECK(held.bench.stage.complete());
}

TEST_CASE("only idle slots get work in the endgame") {
  Held held(1000, 100);
  const Grant ahead = held.bench.ask(2, 0, false);
  CHECK_FALSE(ahead.unit);
  CHECK(ahead.reason == "nothing is free; the last units go to idle slots");
  CHECK(held.bench.ask(2, 0, true).unit);
}

TEST_CASE("no help where it would gain nothing") {
  Held held(1000, 100);
  held.bench.performance = 1e-6;
  const Grant grant = held.bench.ask(2);
  CHECK_FALSE(grant.unit);
  CHECK(grant.retry_after > 0);
  CHECK(grant.reason.find("no help of this host") != std::string::npos);
}

TEST_CASE("the papers' rule copies the outstanding unit of the slowest host, each once") {
  StageBench bench(4, "rts,mode=paper", Straggler::duplicate_once);
  bench.performance = 3;
  const Unit a = bench.take(1);
  bench.performance = 1;
  const Unit b = bench.take(2);
  bench.performance = 2;
  const Unit c = bench.take(3);
  const Unit d = bench.take(4);
  const Unit first = bench.take(5);
  CHECK((first.kind == UnitKind::copy && first.group == b.id && first.range == b.range));
  CHECK(bench.take(6).group == c.id);
  CHECK(bench.take(7).group == d.id);
  CHECK(bench.take(8).group == a.id);
  CHECK_FALSE(bench.ask(9).unit);
}

TEST_CASE("the papers' omission at 70 per cent") {
  StageBench bench(10, "rts,mode=paper", Straggler::duplicate_once);
  const Unit first = bench.take(1);
  const Unit lost = bench.take(2);
  bench.finish(first);
  for (int i = 0; i < 6; ++i) bench.finish(bench.take(1));
  CHECK(bench.decisions("omit") == 1);
  CHECK(bench.see(lost).state == UnitState::cancelled);
  CHECK(bench.take(1).range == lost.range);
  CHECK_FALSE(bench.ask(2).unit);
  CHECK(bench.commit(lost, lost.range, true).accepted ==
        std::vector<Range>{lost.range});  // late, but still open
}

TEST_CASE("a stage without straggler rules waits, and leases end it") {
  Held held(1000, 100, Straggler::none);
  held.bench.wait(1000);
  CHECK_FALSE(held.bench.ask(2).unit);
  held.bench.wait(86400);
  held.bench.tick();
  CHECK(held.bench.see(held.unit).state == UnitState::expired);
  CHECK(held.bench.stage.host(HostId{1})->rate == Approx(0.5));
  CHECK(held.bench.take(2).range.begin == 100);
}
