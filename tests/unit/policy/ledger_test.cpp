// The ledger alone: items move from free to held to accepted, and whatever happens none is lost or twice.
#include "server/policy/ledger/ledger.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

const Ledger::OthersOn others = [](const auto&) { return true; };
const Ledger::OthersOn nobody = [](const auto&) { return false; };
const HostId a{1}, b{2};
const UnitId unit_first{1}, unit_second{2};

}  // namespace

TEST_CASE("ledger: an item is free, held, accepted") {
  Ledger ledger(10, {});
  CHECK(ledger.next_free(a, others) == Range{0, 10});
  ledger.hold(unit_first, {0, 4});
  CHECK(ledger.free() == RangeSet({4, 10}));
  CHECK(ledger.held() == 4);
  ledger.let_go(unit_first, {0, 2});
  ledger.accept({0, 2});
  CHECK(ledger.accepted_cost() == 2);
  CHECK(ledger.held() == 2);
  ledger.check();
  ledger.let_go(unit_first, {2, 4});
  ledger.release({2, 4});
  CHECK(ledger.next_free(a, others) == Range{2, 4});  // what was given back goes first
  ledger.accept({2, 10});
  CHECK(ledger.complete());
  ledger.check();
}

TEST_CASE("ledger: items are free again only when nobody has them and nobody delivered them") {
  Ledger ledger(10, {});
  ledger.hold(unit_first, {0, 10});
  ledger.hold(unit_second, {5, 10});
  ledger.let_go(unit_first, {0, 10});
  ledger.accept({0, 2});
  ledger.release({0, 10});
  CHECK(ledger.free() == RangeSet({2, 5}));
  CHECK(ledger.cover().over({0, 10}) == std::vector{unit_second});
  ledger.check();
}

TEST_CASE(
    "ledger: an item that made a kernel fail is handed out alone, and not to that host while others are on") {
  Ledger ledger(10, {});
  ledger.fail(3, a);
  CHECK(ledger.allowed({0, 10}, b, others) == Range{0, 3});
  CHECK(ledger.allowed({3, 10}, b, others) == Range{3, 4});
  CHECK(ledger.allowed({3, 10}, a, others) == Range{4, 10});
  CHECK(ledger.allowed({3, 10}, a, nobody) == Range{3, 4});
  CHECK(ledger.allowed({3, 10}, b, others) == Range{3, 4});
  ledger.fail(3, b);
  CHECK(ledger.allowed({3, 10}, b, others) == Range{4, 10});
  ledger.put_aside({3, 4});
  CHECK_FALSE(ledger.free().contains(3));
  CHECK(ledger.allowed({0, 3}, a, others) == Range{0, 3});
  ledger.accept({3, 4});  // somebody delivers it after all
  CHECK(ledger.set_aside().empty());
  ledger.check();
}

TEST_CASE("ledger: disputes end in the majority's word, in a rejection, or in items set aside for good") {
  Ledger ledger(6, {});
  ledger.accept({0, 6});
  ledger.dispute({0, 6});
  CHECK_FALSE(ledger.complete());
  ledger.end_dispute({0, 2});
  ledger.reject({2, 4});
  CHECK(ledger.free() == RangeSet({2, 4}));
  ledger.give_up({4, 6});
  CHECK(ledger.set_aside() == RangeSet({4, 6}));
  CHECK(ledger.wanted({2, 6}) == std::vector{Range{2, 4}});  // nobody's word counts for the others any more
  CHECK(ledger.accepted_cost() == 2);
  ledger.check();
}

TEST_CASE("ledger: when no more items are needed nothing becomes free again") {
  Ledger ledger(10, {});
  ledger.hold(unit_first, {0, 5});
  ledger.accept({5, 6});
  ledger.end();
  ledger.let_go(unit_first, {0, 5});
  ledger.release({0, 5});
  CHECK(ledger.free().empty());
  CHECK(ledger.complete());
  CHECK(ledger.held() == 0);
  ledger.check();
}

TEST_CASE("ledger: its invariant holds whatever is done to it") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::vector<double> hints;
    for (int i = 0; i < 60; ++i) hints.push_back(1 + static_cast<double>(random.below(9)));
    Ledger ledger(60, seed % 2 == 0 ? hints : std::vector<double>{});
    if (seed % 4 == 0) ledger.sort_free();
    std::vector<std::pair<UnitId, Range>> held;
    for (int step = 1; step <= 200; ++step) {
      const auto begin = static_cast<std::int64_t>(random.below(60));
      const Range range{begin,
                        std::min<std::int64_t>(60, begin + 1 + static_cast<std::int64_t>(random.below(8)))};
      switch (random.below(6)) {
        case 0:
        case 1:
          if (ledger.free().empty()) break;
          ledger.forget_taken();
          held.emplace_back(UnitId{step}, ledger.next_free(a, others));
          ledger.hold(held.back().first, held.back().second);
          break;
        case 2:
          if (held.empty()) break;
          ledger.let_go(held.back().first, held.back().second);
          if (random.chance(0.7)) {
            for (const Range part : ledger.wanted(held.back().second)) ledger.accept(part);
          }
          ledger.release(held.back().second);
          held.pop_back();
          break;
        case 3:
          ledger.reject(range);
          break;
        case 4:
          for (const Range part : ledger.accepted().within(range)) ledger.dispute(part);
          break;
        default:
          if (random.chance(0.3))
            ledger.give_up(range);
          else
            ledger.end_dispute(range);
      }
      ledger.check();
      ledger.check_sums(false);
    }
  }
}

TEST_CASE("ledger: what is handed out at once is a part of one lease") {
  Ledger ledger(100, {}, true);
  ledger.bring({10, 30});
  ledger.bring({30, 50});
  CHECK(ledger.free() == RangeSet({10, 50}));
  CHECK(ledger.next_free(a, others) == Range{10, 30});
  CHECK(ledger.allowed({25, 50}, a, others) == Range{25, 30});
  ledger.hold(unit_first, {10, 30});
  CHECK(ledger.next_free(a, others) == Range{30, 50});
  // A failed item does not hide the lease behind it.
  ledger.fail(30, a);
  CHECK(ledger.next_free(a, others) == Range{31, 50});
  // What was leased before does not count: [20, 40) is one lease now.
  ledger.let_go(unit_first, {10, 30});
  ledger.release({10, 30});
  ledger.take_away({20, 50});
  ledger.bring({20, 40});
  CHECK(ledger.allowed({20, 30}, b, others) == Range{20, 30});
  CHECK(ledger.allowed({31, 45}, b, others) == Range{31, 40});
  ledger.check();
}
