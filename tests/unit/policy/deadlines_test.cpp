// What waits and who is greatest, against the plain way of doing it.
#include "server/policy/hosts/deadlines.h"

#include <map>
#include <set>
#include <vector>

#include "server/policy/hosts/greatest.h"
#include "shared/base/ids.h"
#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::policy {
namespace {

struct Thing {
  DeadlinePlace place = no_deadline;
  Timestamp at;
  UnitId id;
  [[nodiscard]] UnitId deadline_key() const { return id; }
};

Timestamp at_second(double seconds) {
  return Timestamp{std::chrono::hours{24 * 365 * 56}} + from_seconds(seconds);
}

}  // namespace

TEST_CASE(
    "deadlines: what is put off waits on, what is brought forward comes sooner, what is removed never") {
  Deadlines<UnitId, Thing> deadlines;
  std::vector<Thing> things(4);
  for (std::size_t i = 0; i < things.size(); ++i) {
    things[i].id = {static_cast<std::int64_t>(i)};
    deadlines.set(things[i].place, things[i], at_second(60));
  }
  deadlines.set(things[0].place, things[0], at_second(90));
  deadlines.set(things[1].place, things[1], at_second(30));
  deadlines.remove(things[2].place);
  CHECK(things[2].place == no_deadline);
  CHECK(deadlines.size() == 3);
  CHECK(deadlines.next(at_second(29.9)) == nullptr);
  CHECK(deadlines.next(at_second(30)) == &things[1]);
  CHECK(deadlines.next(at_second(59)) == nullptr);
  CHECK(deadlines.next(at_second(89.999)) == &things[3]);
  CHECK(deadlines.next(at_second(89.999)) == nullptr);
  CHECK(deadlines.next(at_second(1e6)) == &things[0]);
  CHECK(deadlines.size() == 0);
}

TEST_CASE("deadlines: in order of time and key, whatever is put off, over jumps of the clock, too") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Deadlines<UnitId, Thing> deadlines;
    std::vector<Thing> things(60);
    for (std::size_t i = 0; i < things.size(); ++i) things[i].id = {static_cast<std::int64_t>(i)};
    std::set<std::pair<Timestamp, std::int64_t>> expected;
    double now = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto key = random.between(0, 59);
      Thing& thing = things[static_cast<std::size_t>(key)];
      expected.erase({thing.at, key});
      if (random.chance(0.2)) {
        deadlines.remove(thing.place);
      } else {
        // Near and far, in the past, and several at the same time.
        thing.at =
            at_second(now + 0.5 * static_cast<double>(random.between(-4, random.chance(0.1) ? 900 : 100)));
        deadlines.set(thing.place, thing, thing.at);
        expected.insert({thing.at, key});
      }
      now += random.chance(0.01) ? 400 * random.uniform() - 100 : 0.3 * random.uniform();
      while (Thing* due = deadlines.next(at_second(now))) {
        due->place = no_deadline;
        REQUIRE(!expected.empty());
        CHECK(due == &things[static_cast<std::size_t>(expected.begin()->second)]);
        CHECK(expected.begin()->first <= at_second(now));
        expected.erase(expected.begin());
      }
      CHECK((expected.empty() || expected.begin()->first > at_second(now)));
      CHECK(deadlines.size() == expected.size());
    }
  }
}

TEST_CASE("greatest: of those that are there, as they come, change and go") {
  Greatest greatest;
  CHECK(greatest.empty());
  greatest.remove(3);
  CHECK(greatest.empty());
  Random random(7);
  std::map<std::size_t, double> expected;
  for (int step = 0; step < 5000; ++step) {
    const auto place = static_cast<std::size_t>(random.between(0, std::min(step, 99)));
    if (random.chance(0.3)) {
      greatest.remove(place);
      expected.erase(place);
    } else {
      expected[place] = static_cast<double>(random.between(-50, 50));
      greatest.set(place, expected[place]);
    }
    REQUIRE(greatest.empty() == expected.empty());
    double most = -1e9;
    for (const auto& [one, value] : expected) most = std::max(most, value);
    if (!expected.empty()) REQUIRE(greatest.value() == most);
  }
}

}  // namespace gleaner::policy
