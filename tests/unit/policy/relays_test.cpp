// Units that relays hold, the stage of a relay, and a relay's side of its parent
// [server/policy/relay/RELAYS.md].
#include "server/policy/relay/relay.h"
#include "server/policy/relay/serve.h"
#include "tests/unit/policy/stage_bench.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr int relay = 1, other = 2;

// A stage with a relay among its hosts.
struct Parent : StageBench {
  explicit Parent(std::int64_t items)
      : Parent(StageSetup{items, {}, "rts,mode=paper", Straggler::split, true, {}}) {}
  explicit Parent(const StageSetup& with) : StageBench(with) {
    recorded.apply(AdmitRelayEvent{HostId{relay}}, now);
  }
  Grant grant(int host, const std::optional<Range>& planned, const std::optional<RelayOffer>& offer) {
    Requester requester;
    requester.host = HostId{host};
    requester.performance = performance;
    requester.planned = planned;
    requester.relay = offer;
    requester.unit = UnitId{next_unit++};
    const Grant granted = recorded.apply(RequestEvent{requester}, now, changes);
    stage.check_invariants();
    return granted;
  }
  Unit granted(const Grant& grant) {
    INFO(grant.reason);
    REQUIRE(grant.unit);
    return *stage.unit(*grant.unit);
  }
  // Exactly those items.
  Unit take(int host, Range range) { return granted(grant(host, range, {})); }
  Unit offer_and_take(int host, const RelayOffer& offer) { return granted(grant(host, {}, offer)); }
  using StageBench::take;
  protocol::UnitOrder stands(const Unit& unit, std::int64_t begun, double seconds_left, double rate,
                             int slots) {
    auto order = recorded.apply(
        RelayReportEvent{unit.host, RelayReport{unit.id, begun, seconds_left, rate, slots}}, now, changes);
    stage.check_invariants();
    return order;
  }
};

// The stage of a relay, with the relay, under a parent.
struct Below {
  explicit Below(std::int64_t items) : bench(setup_for(items)), policy(bench.recorded, {}) {}
  static StageSetup setup_for(std::int64_t items) {
    StageSetup setup{items, {}, "rts,mode=paper", Straggler::split, true, {}};
    setup.elsewhere = true;
    return setup;
  }
  StageBench bench;
  Relay policy;
};

}  // namespace

TEST_CASE("a relay delivers any part of its unit; what a host passes over is free") {
  Parent bench(100);
  const Unit unit = bench.take(relay, {0, 50});
  CHECK(bench.commit(unit, {10, 15}).accepted == std::vector<Range>{{10, 15}});
  CHECK(bench.see(unit).committed == 0);
  CHECK(bench.commit(unit, {10, 15}).overlapping == std::vector<Range>{{10, 15}});
  // What fills the gap moves the beginning over both.
  CHECK(bench.commit(unit, {0, 10}).accepted == std::vector<Range>{{0, 10}});
  CHECK(bench.see(unit).committed == 15);
  CHECK(bench.see(unit).state == UnitState::open);
  CHECK(bench.commit(unit, {15, 50}).accepted == std::vector<Range>{{15, 50}});
  CHECK(bench.see(unit).state == UnitState::done);

  const Unit plain = bench.take(other, {50, 60});
  CHECK(bench.commit(plain, {51, 60}).accepted == std::vector<Range>{{51, 60}});
  CHECK(bench.see(plain).state == UnitState::done);
  CHECK(bench.stage.ledger().free().contains(50));
}

TEST_CASE("a relay's unit that is given back frees what it has not delivered, and its late results count") {
  Parent bench(100);
  const Unit unit = bench.take(relay, {0, 100});
  REQUIRE(bench.commit(unit, {30, 80}).refusal.empty());
  bench.give_back(unit, GiveBack::returned);
  CHECK(bench.stage.ledger().free().ranges() == std::vector<Range>{{0, 30}, {80, 100}});
  CHECK(bench.commit(unit, {98, 100}).accepted == std::vector<Range>{{98, 100}});
  CHECK(bench.stage.ledger().free().ranges() == std::vector<Range>{{0, 30}, {80, 98}});
}

TEST_CASE("what no host of a relay has begun is split off for who is idle, and no more") {
  Parent bench(10'000);
  const Unit unit = bench.take(relay, {0, 10'000});
  static_cast<void>(bench.stands(unit, 6000, 10'000, 1, 4));
  const Unit split = bench.offer_and_take(other, {1, 4});
  CHECK(split.kind == UnitKind::split);
  CHECK(split.range.begin >= 6000);
  CHECK(split.range.end == 10'000);
  CHECK(bench.see(unit).range.end == split.range.begin);
  // It hears of it with its next report.
  CHECK(bench.stands(unit, 6000, 5000, 1, 4).end == split.range.begin);
}

TEST_CASE("what a relay has delivered of its tail is not split off") {
  Parent bench(10'000);
  const Unit unit = bench.take(relay, {0, 10'000});
  REQUIRE(bench.commit(unit, {5000, 10'000}).refusal.empty());
  static_cast<void>(bench.stands(unit, 6000, 10'000, 1, 4));
  const Grant grant = bench.grant(other, {}, RelayOffer{1, 4});  // the bench checks all invariants
  if (grant.unit) CHECK(bench.granted(grant).range.begin < 5000);
}

TEST_CASE("a relay whose hosts have begun everything keeps it") {
  Parent bench(10'000);
  const Unit unit = bench.take(relay, {0, 10'000});
  REQUIRE(bench.commit(unit, {100, 200}).refusal.empty());
  static_cast<void>(bench.stands(unit, 10'000, 10'000, 1, 4));
  CHECK(!bench.grant(other, {}, RelayOffer{1, 4}).unit);
}

TEST_CASE("a relay none of whose hosts is on stalls, and what it lacks goes to others") {
  Parent bench(100);
  const Unit unit = bench.take(relay, {0, 100});
  REQUIRE(bench.commit(unit, {95, 100}).refusal.empty());
  static_cast<void>(bench.stands(unit, 100, 0, 0, 1));
  const Unit recovered = bench.take(other);
  CHECK(recovered.kind == UnitKind::recover);
  CHECK(recovered.range.end == 95);
}

TEST_CASE("a relay that reports and delivers nothing stalls, and gets no more until it delivers") {
  Parent bench(1000);
  bench.setup.commit_seconds = 60;
  const Unit unit = bench.take(relay, {0, 1000});
  // As it says, its hosts need 250 s for that.
  const auto says_it_computes = [&](double seconds) {
    for (double waited = 0; waited < seconds; waited += 10) {
      bench.wait(10);
      static_cast<void>(bench.stands(unit, 1000, 100, 4, 4));
    }
  };
  says_it_computes(1200);  // 5 x 250 s are not over
  CHECK(!bench.ask(other).unit);
  REQUIRE(bench.commit(unit, {0, 10}).refusal.empty());
  says_it_computes(1200);  // nor since that
  CHECK(!bench.ask(other).unit);
  says_it_computes(600);
  const Unit recovered = bench.take(other);
  CHECK(recovered.kind == UnitKind::recover);
  CHECK(recovered.range.end == 1000);
  CHECK(!bench.grant(relay, {}, RelayOffer{4, 4}).unit);
  REQUIRE(bench.commit(unit, {10, 20}).refusal.empty());
  says_it_computes(10);
  CHECK(bench.stage.counts(bench.now).rate >= 4);  // it counts again
}

TEST_CASE("a relay asks ahead as often as it runs short, up to its most units, a host for one that waits") {
  Parent bench(2000);
  const auto ahead = [&](int host, Range range) {
    Requester requester;
    requester.host = HostId{host};
    requester.urgent = false;
    requester.planned = range;
    requester.unit = UnitId{bench.next_unit++};
    return bench.recorded.apply(RequestEvent{requester}, bench.now, bench.changes).unit.has_value();
  };
  for (std::int64_t begin = 0; begin < 1600; begin += 100) CHECK(ahead(relay, {begin, begin + 100}));
  CHECK(!ahead(relay, {1600, 1700}));
  CHECK(ahead(other, {1600, 1700}));
  CHECK(ahead(other, {1700, 1800}));
  CHECK(!ahead(other, {1800, 1900}));
  bench.stage.check_invariants();
}

TEST_CASE("the first relays that ask get little until it is known who else comes") {
  StageSetup setup{1'000'000, {}, "gleaner", Straggler::split, true, {}};
  setup.benchmark_worth = 1;
  Parent bench(setup);
  bench.performance = 100;  // so that it takes 10,000 s alone
  const Unit first = bench.offer_and_take(relay, {0, 50});
  CHECK(first.range.size() <= 100 * 60);  // the shortest unit
  bench.wait(70);
  const Unit later = bench.offer_and_take(relay, {100, 50});
  CHECK(later.range.size() == 100 * 1200);
}

TEST_CASE("a unit that is cut keeps no tail that others have delivered") {
  StageSetup setup{100, {}, "rts,mode=paper", Straggler::split, true, {}};
  setup.elsewhere = true;
  Parent bench(setup);
  bench.recorded.apply(BringEvent{{0, 100}, 100}, bench.now);
  const Unit late = bench.take(relay, {40, 60});
  bench.give_back(late, GiveBack::returned);
  const Unit unit = bench.take(other, {0, 100});
  CHECK(unit.range == Range{0, 100});
  REQUIRE(bench.commit(late, {40, 60}).accepted == std::vector<Range>{{40, 60}});
  bench.recorded.apply(TakeAwayEvent{{60, 100}, "a test"}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.see(unit).range == Range{0, 40});
}

TEST_CASE("a relay's stage has what was brought to it, and nothing once it is taken away") {
  StageSetup setup{100, {}, "rts,mode=paper", Straggler::split, true, {}};
  setup.elsewhere = true;
  Parent bench(setup);
  CHECK(!bench.ask(other).unit);
  bench.recorded.apply(BringEvent{{20, 60}, 100}, bench.now);
  CHECK(bench.stage.ledger().free().ranges() == std::vector<Range>{{20, 60}});
  const Unit unit = bench.take(other, {20, 40});
  // Taken away from the middle of what a host has on: it keeps the head.
  bench.recorded.apply(TakeAwayEvent{{30, 60}, "a test"}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.stage.ledger().free().empty());
  CHECK(bench.see(unit).range == Range{20, 30});
  CHECK(bench.see(unit).state == UnitState::open);
  // What it computed beyond is welcome: the parent may lack it.
  CHECK(bench.commit(unit, {20, 33}).accepted == std::vector<Range>{{20, 33}});
  bench.recorded.apply(BringEvent{{50, 60}, 100}, bench.now);
  const Unit second = bench.take(other, {50, 60});
  bench.recorded.apply(TakeAwayEvent{{50, 60}, "a test"}, bench.now, bench.changes);
  bench.stage.check_invariants();
  CHECK(bench.see(second).state == UnitState::cancelled);
  CHECK(bench.stage.ledger().elsewhere().total() == 87);
  CHECK(bench.stage.complete());
}

TEST_CASE("one message carries what a relay's hosts did, and an answer that is lost loses nothing") {
  Parent parent(64);
  Below below(64);
  std::vector<UnitId> held;
  const auto serve = [&](const RelayMessage& message) {
    auto served = serve_relay(parent.recorded, HostId{relay}, message, held, UnitId{parent.next_unit++},
                              false, parent.now, parent.changes);
    parent.stage.check_invariants();
    return served;
  };
  const auto say = [&] { return below.policy.say(4, parent.now); };

  // The grant never arrives: the next request names no unit, and gets the items again.
  below.policy.missed();
  REQUIRE(below.policy.due(parent.now) <= parent.now);
  const auto lost = serve(say());
  REQUIRE(lost.reply.grant);
  below.policy.not_told(parent.now);
  auto served = serve(say());
  REQUIRE(served.reply.grant);
  CHECK(served.reply.grant->range == lost.reply.grant->range);
  CHECK(held.size() == 1);
  below.policy.told(served.reply, parent.now, below.bench.changes);
  CHECK(below.bench.stage.ledger().free().total() == served.reply.grant->range.size());

  // Until all is done: every result is passed up, whatever becomes of the answers.
  for (int round = 0; !parent.stage.complete(); ++round) {
    REQUIRE(round < 1000);
    for (int host = 1; host <= 3; ++host) {
      const Grant grant = below.bench.ask(host);
      if (!grant.unit) {
        below.policy.missed();
        continue;
      }
      below.policy.accepted(below.bench.finish(*below.bench.stage.unit(*grant.unit)).accepted);
    }
    parent.wait(30);
    below.bench.wait(30);
    served = serve(say());
    if (round % 3 == 0) {
      below.policy.not_told(parent.now);
    } else {
      below.policy.told(served.reply, parent.now, below.bench.changes);
    }
    below.bench.stage.check_invariants();
  }
  CHECK(parent.stage.host(HostId{relay})->items_accepted == 64);
}

TEST_CASE("a relay that has no unit asks for hosts that find nothing, and not ahead") {
  Below below(8);
  StageBench& bench = below.bench;
  below.policy.missed();
  REQUIRE(below.policy.say(1, bench.now).ask);
  RelayReply reply;
  reply.grant = RelayGrant{UnitId{1}, {0, 8}};
  below.policy.told(reply, bench.now, bench.changes);
  static_cast<void>(below.policy.say(1, bench.now));
  reply.grant.reset();
  reply.orders = {{UnitId{1}, protocol::UnitAction::cancel, 0, "the problem is cancelled"}};
  below.policy.told(reply, bench.now, bench.changes);
  bench.wait(reply.interval);
  CHECK(!below.policy.say(1, bench.now).ask);
  below.policy.told({}, bench.now, bench.changes);
  below.policy.missed();
  REQUIRE(below.policy.due(bench.now) == bench.now);
  CHECK(below.policy.say(1, bench.now).ask);
}

TEST_CASE(
    "a relay whose message was lost is silent until it may speak again, whatever is finished meanwhile") {
  Below below(8);
  StageBench& bench = below.bench;
  static_cast<void>(below.policy.say(1, bench.now));
  RelayReply reply;
  reply.grant = RelayGrant{UnitId{1}, {0, 1}};
  below.policy.told(reply, bench.now, bench.changes);
  below.policy.accepted(bench.finish(bench.take(1)).accepted);
  REQUIRE(below.policy.due(bench.now) == bench.now);  // all of its unit is finished
  static_cast<void>(below.policy.say(1, bench.now));
  const Timestamp again = bench.now + std::chrono::seconds{30};
  below.policy.not_told(again);
  CHECK(below.policy.due(bench.now) == again);
  CHECK(below.policy.due(again) == again);
  CHECK(below.policy.say(1, again).commits.size() == 1);
}
