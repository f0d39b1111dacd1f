// Which items are computed again, and what is still unverified of whom.
#include "server/policy/trust/audits.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr ApplicationId app{1};
constexpr HostId alice{1}, bob{2}, carol{3};
const Timestamp now = Timestamp{} + std::chrono::hours{1000};

Validation validation(const char* text) {
  return *parse_validation(text);
}

std::int64_t items_of(const std::vector<Audit>& audits, HostId host = {}) {
  std::int64_t items = 0;
  for (const Audit& audit : audits)
    if (!host.valid() || audit.host == host) items += audit.range.size();
  return items;
}

std::int64_t total(const std::vector<Range>& ranges) {
  std::int64_t items = 0;
  for (const Range range : ranges) items += range.size();
  return items;
}

}  // namespace

TEST_CASE("nothing is audited where nothing is to be") {
  Reputation reputation;
  Random draw(1);
  for (const char* text : {"none", "checks"}) {
    Audits audits(app, validation(text));
    CHECK(audits.accepted(alice, {0, 1000}, reputation, draw, now).empty());
    CHECK(audits.closing(reputation, draw, now).empty());
  }
}

TEST_CASE("the project's own hosts are not audited, but what they deliver is known to be unverified") {
  Reputation reputation;
  Random draw(1);
  reputation.set_own(alice, true);
  Audits audits(app, validation("adaptive"));
  CHECK(audits.accepted(alice, {0, 1000}, reputation, draw, now).empty());
  CHECK(audits.closing(reputation, draw, now).empty());
  CHECK(audits.doubtful(alice) == std::vector<Range>{{0, 1000}});
  reputation.set_own(alice, false);  // it was found wrong elsewhere
  CHECK_FALSE(audits.accepted(alice, {1000, 1010}, reputation, draw, now).empty());
}

TEST_CASE("of a newcomer something of each delivery is audited until it is known") {
  Reputation reputation;
  Random draw(2);
  Audits audits(app, validation("adaptive"));
  std::int64_t asked = 0;
  for (int delivery = 0; delivery < 20; ++delivery) {
    const auto drawn = audits.accepted(alice, {delivery * 10, delivery * 10 + 10}, reputation, draw, now);
    if (asked < 20) CHECK(items_of(drawn) >= 1);
    for (const Audit& audit : drawn) {
      CHECK(audit.host == alice);
      CHECK(Range{delivery * 10, delivery * 10 + 10}.contains(audit.range));
    }
    asked += items_of(drawn);
  }
  CHECK(asked >= 20);
  std::int64_t later = 0;
  for (int delivery = 20; delivery < 1020; ++delivery)
    later += items_of(audits.accepted(alice, {delivery * 10, delivery * 10 + 10}, reputation, draw, now));
  CHECK(later == Approx(100).margin(40));  // of 10,000 items one in a hundred: four deviations
}

TEST_CASE("the share of a long range is drawn as that of its items one by one") {
  Reputation reputation;
  reputation.verified(alice, app, 1000, now);
  Random draw(3);
  for (const char* text : {"adaptive", "spot:0.01"}) {
    Audits audits(app, validation(text));
    CHECK(items_of(audits.accepted(alice, {0, 100'000}, reputation, draw, now)) == Approx(1000).margin(130));
  }
  Audits all(app, validation("spot:1"));
  CHECK(items_of(all.accepted(alice, {5, 50}, reputation, draw, now)) == 45);
}

TEST_CASE("a quorum audits everything, of own hosts too") {
  Reputation reputation;
  reputation.set_own(alice, true);
  Random draw(4);
  Audits audits(app, validation("quorum:2"));
  CHECK(audits.accepted(alice, {5, 9}, reputation, draw, now) == std::vector<Audit>{{{5, 9}, alice}});
}

TEST_CASE("before the end each host's last delivery is seen, and newcomers are known or wholly verified") {
  Reputation reputation;
  reputation.verified(alice, app, 1000, now);
  Random draw(5);
  Audits audits(app, validation("adaptive"));
  (void)audits.accepted(bob, {0, 5}, reputation, draw, now);  // a newcomer with five items
  std::int64_t drawn = 0;
  for (int delivery = 1; delivery <= 30; ++delivery)
    drawn = items_of(audits.accepted(alice, {delivery * 10, delivery * 10 + 10}, reputation, draw, now));
  const auto closing = audits.closing(reputation, draw, now);
  CHECK(items_of(closing, alice) == (drawn == 0 ? 1 : 0));
  for (const Audit& audit : closing)
    if (audit.host == alice) CHECK(Range{300, 310}.contains(audit.range));
  for (const Audit& audit : closing) audits.verified(audit.range);
  CHECK(audits.closing(reputation, draw, now).empty());  // once
}

TEST_CASE("what is verified or free again is no longer anybody's doubtful delivery") {
  Reputation reputation;
  Random draw(6);
  Audits audits(app, validation("adaptive"));
  (void)audits.accepted(alice, {0, 100}, reputation, draw, now);
  (void)audits.accepted(bob, {100, 120}, reputation, draw, now);
  audits.verified({10, 20});
  audits.verified({90, 110});
  CHECK(audits.doubtful(alice) == std::vector<Range>{{0, 10}, {20, 90}});
  CHECK(audits.doubtful(bob) == std::vector<Range>{{110, 120}});
  audits.reopened({0, 100});
  CHECK(audits.doubtful(alice).empty());
  CHECK(audits.doubtful(carol).empty());
  (void)audits.accepted(carol, {0, 30}, reputation, draw, now);
  CHECK(audits.doubtful(carol) == std::vector<Range>{{0, 30}});
}

TEST_CASE("the books agree after any order of events") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Reputation reputation;
    Audits audits(app, validation("adaptive"));
    std::map<std::int64_t, HostId> unverified;  // the same, item by item
    for (int event = 0; event < 400; ++event) {
      const std::int64_t begin = random.between(0, 190);
      const Range range{begin, random.between(begin + 1, 200)};
      const HostId host{random.between(1, 4)};
      const auto action = random.below(3);
      if (action == 0) {
        for (const Audit& audit : audits.accepted(host, range, reputation, random, now)) {
          CHECK(audit.host == host);
          CHECK(range.contains(audit.range));
        }
        for (std::int64_t item = range.begin; item < range.end; ++item) unverified[item] = host;
      } else {
        if (action == 1) audits.verified(range);
        if (action == 2) audits.reopened(range);
        unverified.erase(unverified.lower_bound(range.begin), unverified.lower_bound(range.end));
      }
      for (std::int64_t id = 1; id <= 4; ++id) {
        const auto expected = std::count_if(unverified.begin(), unverified.end(),
                                            [&](const auto& entry) { return entry.second == HostId{id}; });
        REQUIRE(total(audits.doubtful(HostId{id})) == expected);
      }
    }
  }
}
