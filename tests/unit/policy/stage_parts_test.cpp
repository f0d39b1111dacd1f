// The parts of a stage, each alone: the hosts' clock, what items cost, when units end, and the energy filter.
#include <cmath>

#include "server/policy/stage/energy_filter.h"
#include "server/policy/stage/state.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

// Open units, a slot each, heard of at `now`.
struct Parts {
  explicit Parts(std::int64_t count, const std::vector<double>& hints = {}) : ledger(count, hints) {}

  Held& open(int unit, int host, Range range, UnitId group = {}) {
    Held made;
    made.unit.id = UnitId{unit};
    made.unit.group = group.valid() ? group : made.unit.id;
    made.unit.host = HostId{host};
    made.unit.range = range;
    made.unit.committed = made.unit.finished = range.begin;
    Held& held = units.open(std::move(made));
    held.host = &clock.host(held.unit.host);
    held.slot = &clock.slot({held.unit.host, 0});
    held.slot->units.push_back(&held);
    ledger.hold(held.unit.id, range);
    units.join(held);
    heard(held);
    return held;
  }
  void heard(Held& held) {
    clock.heard(held, now, rules.heartbeat, rules);
    if (held.group != nullptr) forecast.index(*held.group);
    forecast.estimate(*held.slot, clock.fleet(), now);
  }
  void rate(int host, double rate) {
    clock.change(clock.host(HostId{host}), [&](Host& changed) { changed.record.rate = rate; });
  }

  EndgameRules rules;
  Ledger ledger;
  HostClock clock;
  ItemCosts items{ledger.costs()};
  Units units;
  Forecast forecast{ledger.costs(), items};
  Timestamp now{std::chrono::hours{24 * 365 * 56}};
};

}  // namespace

TEST_CASE(
    "hosts' clock: a unit falls silent when nothing was heard of it in time, and is live when it is heard "
    "of") {
  Parts parts(100);
  Held& held = parts.open(1, 1, {0, 10});
  CHECK(parts.clock.fleet().slots_on() == 1);
  parts.now += from_seconds(60);
  parts.heard(held);
  CHECK(parts.clock.next_silent(parts.now + from_seconds(84)) == nullptr);
  CHECK(parts.clock.next_silent(parts.now + from_seconds(85)) == &held);
  CHECK_FALSE(held.live());
  parts.now += from_seconds(200);
  CHECK(parts.clock.heard(held, parts.now, 60, parts.rules));
  CHECK(held.live());
  CHECK(held.host->record.interruptions == 1);
  parts.clock.check(1);
}

TEST_CASE("hosts' clock: a lease ends only for who is silent") {
  Parts parts(100);
  Held& held = parts.open(1, 1, {0, 10});
  const Timestamp end = later(parts.now, parts.rules.lease);
  CHECK(parts.clock.next_expired(end) == nullptr);
  CHECK(parts.clock.next_silent(end) == &held);
  CHECK(parts.clock.next_expired(end - from_seconds(1)) == nullptr);
  CHECK(parts.clock.next_expired(end) == &held);
}

TEST_CASE(
    "hosts' clock: the rate is that of finished items over on-time, and no more than sixteen times the "
    "promise") {
  Parts parts(10'000);
  Held& held = parts.open(1, 1, {0, 10'000});
  held.meter.seconds = 100;
  CHECK(parts.clock.measure(held, 200, false, parts.rules));
  CHECK(parts.clock.rate(HostId{1}) == 2);
  held.meter.seconds = 100.5;
  CHECK_FALSE(parts.clock.measure(held, 300, false, parts.rules));  // too short to be measured alone
  held.meter.seconds = 1000;
  held.unit.item_seconds = 900;
  CHECK_FALSE(parts.clock.measure(held, 301, false, parts.rules));  // the item in progress is not done
  CHECK(parts.clock.rate(HostId{1}) == 2);
}

TEST_CASE("item costs: between the hint and the words of hosts, the more of them the surer") {
  Parts parts(100);
  Held& one = parts.open(1, 1, {0, 10});
  one.unit.item_seconds = one.unit.running_seconds = 100;
  parts.items.learn(one, 1, parts.rules);
  CHECK(parts.items.estimate(0).mean == Approx(std::sqrt(150.0)));  // its hint, and half as long again
  CHECK(parts.items.estimate(0).said == Approx(150));
  CHECK(parts.items.estimate(0, HostId{1}).mean == 1);  // what it says for itself is nothing new to it
  CHECK(parts.items.long_items().rbegin()->first == Approx(150));
  CHECK(parts.items.overlong(0, HostId{1}));
  CHECK(parts.items.left(one, 0, 1) == 50);
  CHECK(parts.items.standing_still(one, 1, parts.rules));  // fifty hints, as far as anybody knows
  Held& two = parts.open(2, 2, {0, 10}, UnitId{1});
  two.unit.item_seconds = two.unit.running_seconds = 80;
  parts.items.learn(two, 1, parts.rules);
  CHECK(parts.items.estimate(0).words == 2);
  CHECK(parts.items.estimate(0).mean == Approx(std::cbrt(120.0 * 120)));  // the least word, and twice as sure
  CHECK(parts.items.elsewhere(0) == parts.items.estimate(0).mean);
  CHECK_FALSE(parts.items.standing_still(one, 1, parts.rules));  // the item is long, the host is not slow
  parts.items.forget({0, 1});
  CHECK(parts.items.estimate(0).mean == 1);
  CHECK(parts.items.long_items().empty());
}

TEST_CASE("item costs: what is done of an item tells when it ends") {
  Parts parts(100);
  Held& held = parts.open(1, 1, {0, 10});
  CHECK(parts.items.left(held, 0, 1) == 1);
  held.unit.item_seconds = 0.5;
  CHECK(parts.items.left(held, 0, 1) == 0.5);
  held.unit.item_seconds = 40;
  CHECK(parts.items.left(held, 0, 1) == 20);  // half as long again
  held.estimate.item_share = 0.8;
  CHECK(parts.items.left(held, 0, 1) == Approx(10));
}

TEST_CASE("item costs: of what is saved of an item the most is kept, and who began it") {
  Parts parts(100);
  CHECK(parts.items.save(3, 0.5, HostId{1}));
  CHECK_FALSE(parts.items.save(3, 0.4, HostId{2}));
  CHECK_FALSE(parts.items.save(3, 1.1, HostId{2}));
  Unit unit;
  unit.range = {3, 5};
  CHECK(parts.items.elsewhere(3) == 0.5);
  CHECK(parts.items.go_on(unit));
  CHECK((unit.begun_share == 0.5 && unit.begun_by == HostId{1}));
  parts.items.forget({0, 10});
  CHECK(parts.items.elsewhere(3) == 1);
}

TEST_CASE("forecast: units end in the order of what is left of them at their hosts' rates") {
  Parts parts(1000);
  parts.clock.host(HostId{1});
  parts.clock.host(HostId{2});
  parts.rate(1, 1);
  parts.rate(2, 10);
  Held& slow = parts.open(1, 1, {0, 100});
  Held& fast = parts.open(2, 2, {100, 200});
  CHECK(Forecast::seconds_left(slow, parts.now) == 100);
  CHECK(Forecast::seconds_left(fast, parts.now) == 10);
  CHECK(parts.forecast.live().empty());  // nobody looks yet
  parts.forecast.settle();
  REQUIRE(parts.forecast.live().size() == 2);
  CHECK(parts.forecast.live().rbegin()->second->id == slow.unit.id);
  slow.unit.finished = 99;
  parts.forecast.estimate(*slow.slot, parts.clock.fleet(), parts.now);
  parts.forecast.settle();
  CHECK(parts.forecast.live().rbegin()->second->id == fast.unit.id);
  CHECK(parts.forecast.work_done(fast, parts.now + from_seconds(5)) == 150);
  fast.watch.stuck = true;
  fast.watch.stalled_since = parts.now;
  parts.forecast.index(*fast.group);
  CHECK(parts.forecast.stalled().size() == 1);
  CHECK(parts.forecast.stalled_cost() == 100);
}

TEST_CASE("energy filter: a piece is kept for an idle slot that draws clearly less and ends it no later") {
  Parts parts(1000);
  EnergyFilter energy(parts.clock);
  Held& held = parts.open(1, 1, {0, 100});
  const auto idle = [&](int host, double watts, double rate) {
    Slot& slot = parts.clock.slot({HostId{host}, 0});
    parts.rate(host, rate);
    slot.host->watts = watts;
    parts.clock.asked(slot, parts.now, parts.rules);
    energy.waits(slot, parts.now);
  };
  parts.clock.host(HostId{2}).watts = 100;
  parts.rate(2, 1);
  idle(3, 95, 1);  // not clearly less
  CHECK_FALSE(energy.keeps(HostId{2}, *held.group, 10, parts.now));
  idle(4, 10, 0.5);  // later
  CHECK_FALSE(energy.keeps(HostId{2}, *held.group, 10, parts.now));
  idle(5, 50, 1);
  CHECK(energy.keeps(HostId{2}, *held.group, 10, parts.now));
  CHECK(parts.clock.find({HostId{5}, 0})->kept_for == held.group->id);
  parts.clock.host(HostId{2}).watts = 0;  // who did not say what it draws does not wait
  CHECK_FALSE(energy.keeps(HostId{2}, *held.group, 10, parts.now));
}

TEST_CASE("rules propose and change nothing; what passes is carried out by the stage") {
  StageSetup setup{100, {}, "static,mode=paper", Straggler::split, true, {}};
  setup.benchmark_worth = 1;
  StageState stage(setup);
  Changes changes;
  const Timestamp start{std::chrono::hours{24 * 365 * 56}};
  Requester one;
  one.host = HostId{1};
  one.performance = 1;
  one.unit = UnitId{1};
  REQUIRE(stage.request(one, start, changes).unit);  // all of it

  Requester two = one;
  two.host = HostId{2};
  two.performance = 10;
  two.unit = UnitId{2};
  stage.clock.change(stage.clock.host(two.host), [](Host& host) { host.record.performance = 10; });
  stage.clock.slot({two.host, 0});
  std::vector<Proposal> seen;
  const Take look = [&](Proposal& proposal) {
    seen.push_back(proposal);
    return false;
  };
  stage.forecast.settle();
  CHECK(propose_check(stage, two, start, look).empty());
  CHECK(propose_recovery(stage, two, start, look).empty());
  CHECK(seen.empty());  // nothing is disputed, nobody stalls
  CHECK(propose_help(stage, two, start, look).empty());
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front().kind == UnitKind::split);
  CHECK(seen.front().of == UnitId{1});
  CHECK(seen.front().cut_at == seen.front().range.begin);
  CHECK(stage.units.open().size() == 1);
  stage.check_invariants();

  stage.apply(seen.front(), two, start, changes);
  CHECK(stage.units.open().size() == 2);
  CHECK(stage.units.at(UnitId{1}).unit.range.end == stage.units.at(UnitId{2}).unit.range.begin);
  stage.check_invariants();
}
