#include "client/engine/held_unit.h"

#include <unistd.h>

#include "shared/base/random.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/segment.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_server.h"

namespace gleaner::engine::testing {
namespace {

struct Directory {
  io::Path path;
  Directory() {
    static int count = 0;
    path = std::filesystem::temp_directory_path() /
           ("gleaner-held-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::remove_all(path);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  [[nodiscard]] io::Path unit() const { return path / "1"; }
};

FakeServer& server() {
  static FakeServer* one = [] {
    auto* made = new FakeServer;
    made->set_application(script_kernel());
    return made;
  }();
  return *one;
}

std::unique_ptr<HeldUnit> make(const Directory& directory, Range range) {
  auto grant = server().make_grant(range);
  grant.unit = UnitId{1};
  auto unit = HeldUnit::create(io::real_files(), directory.unit(), {server().sign_grant(grant)}, grant);
  REQUIRE(unit.ok());
  return std::move(unit).value();
}

std::unique_ptr<HeldUnit> reload(const Directory& directory) {
  auto unit = HeldUnit::load(io::real_files(), directory.unit());
  INFO((unit.ok() ? "" : unit.error().message));
  REQUIRE(unit.ok());
  return std::move(unit).value();
}

void check_segment(const HeldUnit& unit) {
  const auto segment = unit.segment();
  REQUIRE(segment.ok());
  const Range range = unit.pending()->range;
  const auto items = protocol::split_segment(*segment, range.size(), 1 << 20);
  REQUIRE(items.ok());
  for (std::int64_t i = 0; i < range.size(); ++i)
    CHECK((*items)[static_cast<std::size_t>(i)] == expected_item(range.begin + i));
}

TEST_CASE("A unit reads back as it was, at every stage of its life") {
  const Directory directory;
  auto unit = make(directory, {100, 110});
  CHECK(reload(directory)->finished() == 100);
  for (std::int64_t i = 100; i < 104; ++i) unit->add_item(i, expected_item(i));
  REQUIRE(unit->save().ok());
  CHECK(reload(directory)->uncut() == 4);
  REQUIRE(unit->cut(1.5).ok());
  unit->add_item(104, expected_item(104));
  REQUIRE(unit->save().ok());
  {
    const auto again = reload(directory);
    REQUIRE(again->pending());
    CHECK(again->pending()->range == Range{100, 104});
    CHECK(again->pending()->digest == unit->pending()->digest);
    CHECK(again->pending()->compute_seconds == 1.5);
    CHECK_FALSE(again->pending()->last);
    check_segment(*again);
  }
  unit->acknowledge();
  unit->trim(106);
  unit->trim(200);  // ignored
  unit->add_item(105, expected_item(105));
  unit->add_item(106, expected_item(106));  // beyond the end
  CHECK(unit->complete());
  REQUIRE(unit->cut(0).ok());
  CHECK(unit->pending()->last);
  const auto again = reload(directory);
  CHECK(again->acknowledged() == 104);
  CHECK(again->end() == 106);
  CHECK(again->finished() == 106);
  check_segment(*again);
  unit->acknowledge();
  CHECK(unit->drained());
}

TEST_CASE("Items of an abandoned unit are dropped, also after a restart") {
  for (const bool refused : {true, false}) {
    const Directory directory;
    auto unit = make(directory, {100, 110});
    for (std::int64_t i = 100; i < 104; ++i) unit->add_item(i, expected_item(i));
    REQUIRE(unit->cut(1.5).ok());
    unit->add_item(104, expected_item(104));
    if (refused) unit->acknowledge();  // a signed refusal ends the cut as an acceptance does
    unit->abandon();
    unit->add_item(105, expected_item(105));
    CHECK(unit->stopped());
    CHECK(unit->drained());
    REQUIRE(unit->save().ok());
    auto again = reload(directory);
    CHECK(again->stopped());
    CHECK(again->uncut() == 0);
    CHECK(again->pending().has_value() == !refused);  // what the disk lost is found lost once more
  }
}

TEST_CASE("However the journal is cut, a prefix is read, and the unit can go on") {
  const Directory directory;
  {
    auto unit = make(directory, {0, 20});
    for (std::int64_t i = 0; i < 5; ++i) unit->add_item(i, expected_item(i));
    REQUIRE(unit->cut(1).ok());
    unit->acknowledge();
    for (std::int64_t i = 5; i < 9; ++i) unit->add_item(i, expected_item(i));
    REQUIRE(unit->cut(1).ok());
    unit->trim(15);
    unit->add_item(9, expected_item(9));
    REQUIRE(unit->save().ok());
  }
  const io::Path journal = directory.unit() / "journal";
  const Bytes whole = io::real_files().read(journal, 1 << 20).value();
  std::int64_t finished_before = 0;
  for (std::size_t length = 0; length <= whole.size(); length += length + 30 < whole.size() ? 5 : 1) {
    INFO("cut to " << length << " of " << whole.size());
    REQUIRE(
        io::real_files().write(journal, std::string_view(whole).substr(0, length), io::Mode::secret).ok());
    auto unit = reload(directory);
    CHECK(unit->finished() >= finished_before);  // more journal, never fewer items
    finished_before = unit->finished();
    CHECK(unit->acknowledged() <= unit->finished());
    // And it takes new records that read back.
    while (unit->finished() < 12) unit->add_item(unit->finished(), expected_item(unit->finished()));
    if (!unit->pending()) REQUIRE(unit->cut(1).ok());
    check_segment(*unit);
    REQUIRE(unit->sync().ok());
    CHECK(reload(directory)->finished() == 12);
  }
  CHECK(finished_before == 10);
}

TEST_CASE("Damage anywhere in the journal never passes for results") {
  const Directory directory;
  {
    auto unit = make(directory, {0, 50});
    for (std::int64_t i = 0; i < 20; ++i) unit->add_item(i, expected_item(i));
    REQUIRE(unit->cut(1).ok());
    unit->acknowledge();
    for (std::int64_t i = 20; i < 40; ++i) unit->add_item(i, expected_item(i));
    REQUIRE(unit->save().ok());
  }
  const io::Path journal = directory.unit() / "journal";
  const Bytes whole = io::real_files().read(journal, 1 << 20).value();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Bytes damaged = whole;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      const auto at = static_cast<std::size_t>(random.below(damaged.size()));
      switch (random.below(3)) {
        case 0:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
          break;
        case 1:
          damaged.erase(at, 1 + random.below(30));
          break;
        default:
          damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(60)));
      }
    }
    REQUIRE(io::real_files().write(journal, damaged, io::Mode::secret).ok());
    auto unit = reload(directory);
    CHECK(unit->finished() <= 40);
    if (!unit->pending() && unit->uncut() > 0) REQUIRE(unit->cut(0).ok());
    if (unit->pending()) check_segment(*unit);
  }
}

TEST_CASE("Items that look like journal records stay items") {
  const Directory directory;
  auto unit = make(directory, {0, 3});
  unit->add_item(0, "first");
  REQUIRE(unit->save().ok());
  const Bytes record = io::real_files().read(directory.unit() / "journal", 1 << 20).value().substr(8);
  unit->add_item(1, record + record);
  REQUIRE(unit->save().ok());
  // Torn inside the second item, just where the fake record begins.
  const Bytes whole = io::real_files().read(directory.unit() / "journal", 1 << 20).value();
  for (std::size_t cut = 1; cut < record.size() * 2; ++cut) {
    REQUIRE(io::real_files()
                .write(directory.unit() / "journal", std::string_view(whole).substr(0, whole.size() - cut),
                       io::Mode::secret)
                .ok());
    CHECK(reload(directory)->finished() == 1);
  }
}

TEST_CASE("Large units are cut into pieces of bounded size") {
  const Directory directory;
  auto unit = make(directory, {0, 40});
  const Bytes big(4 << 20, 'b');
  for (std::int64_t i = 0; i < 20; ++i) unit->add_item(i, big);
  REQUIRE(unit->cut(0).ok());
  CHECK(unit->pending()->bytes <= HeldUnit::cut_bytes_max);
  CHECK(unit->pending()->range.end < 20);
  CHECK(reload(directory)->finished() == 20);
}

TEST_CASE("Cuts that a relay holds read back, are acknowledged in any order, and can be recalled") {
  const Directory directory;
  auto unit = make(directory, {100, 120});
  const auto compute = [&unit](std::int64_t count) {
    for (; count > 0; --count) unit->add_item(unit->finished(), expected_item(unit->finished()));
  };
  for (int i = 0; i < 3; ++i) {
    compute(5);
    REQUIRE(unit->cut(1).ok());
    check_segment(*unit);
    unit->hold();
  }
  compute(2);
  REQUIRE(unit->cut(1).ok());
  REQUIRE(unit->save().ok());
  const auto restart = [&] {
    REQUIRE(unit->save().ok());
    unit = reload(directory);
  };
  restart();
  REQUIRE(unit->held().size() == 3);
  CHECK(unit->pending()->range == Range{115, 117});
  CHECK(unit->uncut() == 0);
  CHECK(unit->acknowledged() == 100);
  unit->acknowledge(110);  // the second
  CHECK(unit->acknowledged() == 100);
  restart();
  CHECK(unit->held().size() == 2);
  check_segment(*unit);
  unit->acknowledge();
  unit->recall();
  CHECK(unit->pending()->range == Range{100, 105});
  check_segment(*unit);
  restart();  // in memory only
  CHECK_FALSE(unit->pending());
  CHECK(unit->held().size() == 2);
  unit->recall();
  unit->hold();
  restart();
  REQUIRE(unit->held().size() == 2);
  unit->acknowledge(105);
  CHECK(unit->acknowledged() == 110);
  compute(3);
  REQUIRE(unit->cut(1).ok());
  CHECK(unit->pending()->range == Range{117, 120});
  CHECK(unit->pending()->last);
  check_segment(*unit);
  unit->acknowledge();
  CHECK(unit->delivered());
  CHECK_FALSE(unit->drained());
  restart();
  CHECK(unit->delivered());
  CHECK_FALSE(unit->drained());
  unit->acknowledge(115);
  CHECK(unit->drained());
}

TEST_CASE("A unit that is abandoned keeps what a relay holds of it") {
  const Directory directory;
  auto unit = make(directory, {100, 120});
  for (int i = 0; i < 4; ++i) {
    unit->add_item(unit->finished(), expected_item(unit->finished()));
    REQUIRE(unit->cut(1).ok());
    if (i < 3) unit->hold();
  }
  unit->add_item(104, expected_item(104));
  unit->acknowledge(101);
  unit->abandon();
  CHECK(unit->delivered());
  CHECK(unit->held().size() == 2);
  unit->add_item(105, "dropped");
  unit->recall();
  check_segment(*unit);
  unit->acknowledge();
  unit->acknowledge(103);
  CHECK(unit->drained());
}

}  // namespace
}  // namespace gleaner::engine::testing
