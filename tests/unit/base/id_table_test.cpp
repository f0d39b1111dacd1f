// A table by ids does what an ordered map does, and leaves things where they are.
#include "shared/base/id_table.h"

#include <array>
#include <limits>
#include <map>
#include <string>

#include "shared/base/ids.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;

namespace {

struct Thing {
  std::array<char, 500> large{};  // some dozens to a chunk
  std::string text;
};
using Table = IdTable<HostId, Thing>;
using Map = std::map<HostId, std::string>;

void check_same(const Table& table, const Map& map) {
  REQUIRE(table.size() == map.size());
  CHECK(table.empty() == map.empty());
  auto expected = map.begin();
  for (const auto& [id, thing] : table) {
    REQUIRE(expected != map.end());
    REQUIRE((id == expected->first && thing.text == expected->second));
    ++expected;
  }
  CHECK(expected == map.end());
}

void play(Random& random, std::int64_t least, std::int64_t greatest) {
  Table table;
  Map map;
  std::map<HostId, const Thing*> places;
  for (int step = 0; step < 3000; ++step) {
    const HostId id{random.between(least, greatest)};
    if (random.between(0, 3) > 0) {
      const auto [place, added] = table.try_emplace(id);
      CHECK(added == !map.contains(id));
      CHECK(place->first == id);
      place->second.text = map[id] = std::to_string(step);
      if (added) places[id] = &place->second;
    } else {
      CHECK(table.erase(id) == map.erase(id));
    }
    const HostId other{random.between(least, greatest)};
    CHECK(table.contains(other) == map.contains(other));
    const auto after = map.upper_bound(other);
    const auto found = std::as_const(table).upper_bound(other);
    REQUIRE((found == std::as_const(table).end()) == (after == map.end()));
    if (after != map.end()) CHECK(found->first == after->first);
  }
  check_same(table, map);
  for (const auto& [id, text] : map) CHECK(&table.at(id) == places.at(id));
  const Table moved = std::move(table);
  check_same(moved, map);
  for (const auto& [id, text] : map) CHECK(&moved.at(id) == places.at(id));
}

}  // namespace

TEST_CASE(
    "a table by ids is an ordered map: ids in a row, scattered ones, and negative ones of a damaged store") {
  Random random(20251);
  play(random, 1, 500);
  play(random, 1, 1'000'000'000'000);
  play(random, -300, 300);
  play(random, std::numeric_limits<std::int64_t>::min() / 4, std::numeric_limits<std::int64_t>::max() / 4);
}

TEST_CASE("the least and the greatest id are ids like others") {
  Table table;
  const HostId least{std::numeric_limits<std::int64_t>::min()},
      greatest{std::numeric_limits<std::int64_t>::max()};
  CHECK(table.find(HostId{1}) == table.end());
  CHECK(std::as_const(table).upper_bound(HostId{0}) == std::as_const(table).end());
  table[greatest].text = "greatest";
  table[least].text = "least";
  CHECK(table.at(greatest).text == "greatest");
  CHECK(table.begin()->first == least);
  CHECK(std::as_const(table).upper_bound(least)->first == greatest);
  CHECK(std::as_const(table).upper_bound(greatest) == std::as_const(table).end());
  CHECK(table.erase(least) == 1);
  CHECK(table.begin()->first == greatest);
}
