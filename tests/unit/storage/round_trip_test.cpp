// Every kind of row comes back as it was written: before the commit, after it, and after a restart.
#include <algorithm>
#include <map>

#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/rows.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::uint64_t seed = 20261120;

template <typename Row>
void check_same(const std::vector<Row>& found, const std::vector<Row>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("row " << i);
    CHECK(text_of(found[i]) == text_of(expected[i]));
  }
}

// Writes with `write`, then compares `read()` with what it answered, in the transaction, committed and
// reopened.
template <typename Write, typename Read>
void check_round_trip(Write write, Read read) {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  INFO("seed " << seed);
  Random random(seed);
  auto store = open_store(directory.path());
  must(store->begin());
  const Grid grid = add_grid(*store);
  const auto written = write(*store, grid, random);
  check_same(read(*store, grid), written);
  must(store->commit());
  check_same(read(*store, grid), written);
  store.reset();
  store = open_store(directory.path(), OpenCheck::quick_check);
  check_same(read(*store, grid), written);
}

// An index takes no more of a value than a part of a page.
void make_key(std::string& text) {
  if (text.size() > 64) text.resize(64);
}

}  // namespace

TEST_CASE("enrolment codes survive, added and replaced") {
  check_round_trip(
      [](Store& store, const Grid&, Random& random) {
        std::map<std::string, CodeRow> rows;
        for (const CodeRow& row : must(store.codes())) rows[row.name] = row;
        for (int i = 0; i < 40; ++i) {
          auto row = random_row<CodeRow>(random);
          row.name = "code " + std::to_string(random.below(30));
          must(store.put_code(row));
          rows[row.name] = row;
        }
        std::vector<CodeRow> all;
        for (const auto& [name, row] : rows) all.push_back(row);
        return all;
      },
      [](Store& store, const Grid&) { return must(store.codes()); });
}

TEST_CASE("days add up and survive; the oldest are dropped, and the newest asked for") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  const std::int64_t today = 20'000;
  in_transaction(*store, [&] {
    must(store->add_to_day({today - DayRow::kept_max, 1, 1, 1}));
    must(store->add_to_day({today - 1, 10, 100, 1}));
    must(store->add_to_day({today - 1, 5, 50, 2}));
    must(store->add_to_day({today, 1, 0, 0}));
  });
  store.reset();
  store = open_store(directory.path(), OpenCheck::quick_check);
  const auto days = must(store->days(9));
  REQUIRE(days.size() == 2);
  CHECK(days[0].day == today - 1);
  CHECK(days[0].core_seconds == 15);
  CHECK(days[0].joules == 150);
  CHECK(days[0].items == 3);
  CHECK(must(store->days(1)).at(0).day == today);
}

TEST_CASE("admin tokens survive, added and replaced") {
  check_round_trip(
      [](Store& store, const Grid&, Random& random) {
        std::map<std::string, TokenRow> rows;
        for (const TokenRow& row : must(store.tokens())) rows[row.name] = row;
        for (int i = 0; i < 40; ++i) {
          auto row = random_row<TokenRow>(random);
          row.name = "token " + std::to_string(random.below(30));
          must(store.put_token(row));
          rows[row.name] = row;
        }
        std::vector<TokenRow> all;
        for (const auto& [name, row] : rows) all.push_back(row);
        return all;
      },
      [](Store& store, const Grid&) { return must(store.tokens()); });
}

TEST_CASE("hosts survive, added and updated") {
  check_round_trip(
      [](Store& store, const Grid&, Random& random) {
        std::vector<HostRow> rows = must(store.hosts());
        for (int i = 0; i < 40; ++i) {
          auto row = random_row<HostRow>(random);
          for (std::string* key : {&row.public_key, &row.machine, &row.token_digest}) make_key(*key);
          row.public_key += std::to_string(i);
          row.token_digest += std::to_string(i);
          row.id = {};  // the store's choice
          row.id = must(store.add_host(row));
          rows.push_back(row);
        }
        // With and without a new identity.
        for (int i = 0; i < 60; ++i) {
          const auto place = random.below(rows.size());
          auto row = random_row<HostRow>(random);
          row.id = rows[place].id;
          row.token_digest = "new token " + std::to_string(i);
          for (std::string* key : {&row.public_key, &row.machine}) make_key(*key);
          if (random.chance(0.3)) {
            must(store.renew_host(row));
          } else {
            must(store.update_host(row));
            row.public_key = rows[place].public_key;
            row.machine = rows[place].machine;
            row.token_digest = rows[place].token_digest;
          }
          rows[place] = row;
        }
        return rows;
      },
      [](Store& store, const Grid&) { return must(store.hosts()); });
}

TEST_CASE("applications survive") {
  check_round_trip(
      [](Store& store, const Grid&, Random& random) {
        std::vector<ApplicationRow> rows = must(store.applications());
        for (int i = 0; i < 30; ++i) {
          auto row = random_row<ApplicationRow>(random);
          for (std::string* key : {&row.name, &row.version}) make_key(*key);
          row.version += std::to_string(i);
          row.id = must(store.add_application(row));
          rows.push_back(row);
        }
        return rows;
      },
      [](Store& store, const Grid&) { return must(store.applications()); });
}

TEST_CASE("problems survive, added and updated") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<ProblemRow> rows = must(store.problems());
        for (int i = 0; i < 30; ++i) {
          auto row = random_row<ProblemRow>(random);
          make_key(row.name);
          row.name += std::to_string(i);
          row.application = grid.application;
          row.id = {};  // the store's choice
          row.id = must(store.add_problem(row));
          rows.push_back(row);
        }
        for (int i = 0; i < 30; ++i) {
          auto& old = rows[random.below(rows.size())];
          auto row = random_row<ProblemRow>(random);
          row.id = old.id;
          row.name = old.name;
          row.application = grid.application;
          must(store.update_problem(row));
          old = row;
        }
        return rows;
      },
      [](Store& store, const Grid&) { return must(store.problems()); });
}

TEST_CASE("stages survive with their cost hints, added and replaced") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<StageRow> rows;
        for (int i = 0; i < 120; ++i) {
          auto row = random_row<StageRow>(random);
          row.problem = grid.problem;
          row.stage = static_cast<int>(random.below(30));
          const auto same =
              std::find_if(rows.begin(), rows.end(), [&](auto& r) { return r.stage == row.stage; });
          // As a server does: totals change, costs stay.
          if (same != rows.end() && random.chance(0.5)) row.costs = same->costs;
          must(store.put_stage(row));
          if (same == rows.end())
            rows.push_back(row);
          else
            *same = row;
        }
        std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.stage < b.stage; });
        return rows;
      },
      [](Store& store, const Grid& grid) {
        std::vector<StageRow> rows;
        for (int stage = 0; stage < 30; ++stage) {
          if (auto row = must(store.stage(grid.problem, stage))) rows.push_back(*row);
        }
        return rows;
      });
}

TEST_CASE("a million cost hints survive and take little room") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  StageRow row;
  in_transaction(*store, [&] {
    row.problem = add_grid(*store).problem;
    row.stage = 1;
    for (int i = 0; i < 1'000'000; ++i) row.costs.push_back(1 + i % 10);
    must(store->put_stage(row));
  });
  CHECK(must(store->stage(row.problem, 1))->costs == row.costs);
  store.reset();
  if (EngineUnderTest::url(directory.path()).empty())
    CHECK(std::filesystem::file_size(directory / "store.sqlite") < 1 << 20);
}

TEST_CASE("units survive, open ones are listed and closed ones found") {
  std::vector<Store::UnitPlace> closed;
  check_round_trip(
      [&](Store& store, const Grid& grid, Random& random) {
        std::map<UnitId, Store::UnitPlace> units;
        for (int i = 0; i < 200; ++i) {
          auto unit = random_row<policy::Unit>(random);
          unit.id = UnitId{random.between(1, 80)};
          unit.host = grid.hosts[random.below(2)];
          const int stage = static_cast<int>(random.below(2));
          must(store.put_unit(grid.problem, stage, unit));
          units[unit.id] = {grid.problem, stage, unit};
        }
        std::vector<Store::UnitPlace> rows;
        for (const auto& [id, place] : units) {
          rows.push_back(place);
          CHECK(text_of(*must(store.unit(id))) == text_of(place));
        }
        for (int stage = 0; stage < 2; ++stage) {
          std::vector<policy::Unit> open;
          for (const auto& [id, place] : units) {
            if (place.stage == stage && place.unit.state == policy::UnitState::open)
              open.push_back(place.unit);
          }
          check_same(must(store.open_units(grid.problem, stage)), open);
        }
        CHECK(!must(store.unit(UnitId{81})));
        return rows;
      },
      [](Store& store, const Grid&) {
        std::vector<Store::UnitPlace> rows;
        for (int id = 1; id <= 80; ++id) {
          if (auto place = must(store.unit(UnitId{id}))) rows.push_back(*place);
        }
        return rows;
      });
}

TEST_CASE("host records survive") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<policy::HostRecord> rows(2);
        for (int i = 0; i < 30; ++i) {
          auto row = random_row<policy::HostRecord>(random);
          const auto place = random.below(2);
          row.host = grid.hosts[place];
          must(store.put_host_record(grid.problem, 1, row));
          rows[place] = row;
        }
        return rows;
      },
      [](Store& store, const Grid& grid) {
        CHECK(must(store.host_records(grid.problem, 0)).empty());
        return must(store.host_records(grid.problem, 1));
      });
}

TEST_CASE("segments survive") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<SegmentRow> rows;
        for (int i = 0; i < 60; ++i) {
          auto row = random_row<SegmentRow>(random);
          row.problem = grid.problem;
          row.stage = 1;
          row.range.end = row.range.begin + 1 + static_cast<std::int64_t>(random.below(1 << 30));
          row.host = grid.hosts[0];
          row.id = must(store.add_segment(row, {}));
          rows.push_back(row);
        }
        return rows;
      },
      [](Store& store, const Grid& grid) {
        constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
        return must(store.segments_over(grid.problem, 1, {-end, end}));
      });
}

TEST_CASE("small segments' bytes are as durable as their rows, and read beside the writer") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  SegmentId kept, other;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    auto row = simple_segment(grid, {0, 5});
    row.place = SegmentPlace::store;
    kept = must(store->add_segment(row, std::string_view("a\0b", 3)));
    row.range = {5, 9};
    row.place = SegmentPlace::blob;
    other = must(store->add_segment(row, {}));
    must(store->accept(grid.problem, 0, {0, 5}, kept));
    must(store->accept(grid.problem, 0, {6, 8}, other));
    CHECK(store->segment_bytes(kept).error().kind == ErrorKind::not_found);  // not committed yet
    CHECK(must(store->kept_segments({}, 10)).empty());
  });
  store.reset();
  store = open_store(directory.path());
  must(store->begin());
  CHECK(must(store->segment_bytes(kept)) == Bytes("a\0b", 3));
  CHECK(store->segment_bytes(other).error().kind == ErrorKind::not_found);
  const auto in_store = must(store->kept_segments({}, 10));
  REQUIRE(in_store.size() == 1);
  CHECK(in_store[0].id == kept);
  CHECK(in_store[0].range == Range{0, 5});
  CHECK(must(store->kept_segments({}, 0)).empty());
  CHECK(must(store->kept_segments(kept, 10)).empty());
  const auto accepted = must(store->accepted_segments(grid.problem, 0));
  REQUIRE(accepted.size() == 2);
  CHECK(accepted[0].range == Range{0, 5});
  CHECK(accepted[0].segment.id == kept);
  CHECK(accepted[0].segment.place == SegmentPlace::store);
  CHECK(accepted[1].range == Range{6, 8});
  CHECK(accepted[1].segment.range == Range{5, 9});
  CHECK(accepted[1].segment.place == SegmentPlace::blob);
  // What is in the store is no blob that has to be kept.
  const auto blobs = must(store->referenced_blobs());
  CHECK(std::count(blobs.begin(), blobs.end(), std::string(64, 'b')) == 1);
  must(store->drop_segment(other));
  const auto left = must(store->referenced_blobs());
  CHECK(std::count(left.begin(), left.end(), std::string(64, 'b')) == 0);
  CHECK(store->accepted_segments(grid.problem, 0).error().kind == ErrorKind::invalid);
  must(store->delete_problem(grid.problem));
  must(store->commit());
  CHECK(store->segment_bytes(kept).error().kind == ErrorKind::not_found);
}

TEST_CASE("verdicts survive, in order") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<VerdictRow> rows;
        for (int i = 0; i < 50; ++i) {
          auto row = random_row<VerdictRow>(random);
          row.problem = grid.problem;
          must(store.add_verdict(row));
          rows.push_back(row);
        }
        return rows;
      },
      [](Store& store, const Grid& grid) { return must(store.verdicts(grid.problem)); });
}

TEST_CASE("failures survive, newest first") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<FailureRow> rows;
        for (int i = 0; i < 1100; ++i) {
          auto row = random_row<FailureRow>(random);
          row.problem = grid.problem;
          must(store.add_failure(row));
          rows.insert(rows.begin(), row);
        }
        rows.resize(1000);
        return rows;
      },
      [](Store& store, const Grid& grid) { return must(store.failures(grid.problem)); });
}

TEST_CASE("what was answered to a segment survives it") {
  std::vector<AcknowledgementRow> written;
  check_round_trip(
      [&](Store& store, const Grid& grid, Random& random) {
        for (int i = 0; i < 60; ++i) {
          const policy::Unit unit = simple_unit(grid, must(store.next_unit()), {0, 10});
          must(store.put_unit(grid.problem, 0, unit));
          auto row = random_row<SegmentRow>(random);
          row.problem = grid.problem;
          row.stage = 0;
          row.unit = unit.id;
          row.host = grid.hosts[0];
          make_key(row.digest);
          if (row.items_accepted < 0) row.items_accepted = 0;
          const SegmentId segment = must(store.add_segment(row, {}));
          if (i % 3 == 0) must(store.drop_segment(segment));
          written.push_back({row.unit, row.host, row.range, row.digest, row.items_accepted, row.received_at});
        }
        return written;
      },
      [&](Store& store, const Grid&) {
        std::vector<AcknowledgementRow> rows;
        for (const auto& row : written)
          rows.push_back(must(store.acknowledgement(row.unit, row.host, row.range, row.digest)).value());
        for (const auto& row : {written[0], written[1]}) {
          CHECK(!must(store.acknowledgement(UnitId{row.unit.value + 100}, row.host, row.range, row.digest)));
          CHECK(!must(store.acknowledgement(row.unit, HostId{row.host.value + 1}, row.range, row.digest)));
          CHECK(!must(store.acknowledgement(row.unit, row.host, row.range, row.digest + "x")));
        }
        return rows;
      });
}

TEST_CASE("what a relay has of its parent survives") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<LeaseRow> rows;
        for (int i = 0; i < 40; ++i) {
          auto row = random_row<LeaseRow>(random);
          row.unit = UnitId{i + 1};
          row.problem = grid.problem;
          must(store.put_lease(row));
          row.open = !row.open;
          row.range.end -= 1;
          must(store.put_lease(row));
          rows.push_back(row);
        }
        return rows;
      },
      [](Store& store, const Grid&) { return must(store.leases()); });
}

TEST_CASE("deliveries survive until they were answered for long, and are found by what they are of") {
  const Timestamp noon = from_microseconds(1'000'000'000);
  check_round_trip(
      [&](Store& store, const Grid& grid, Random& random) {
        std::vector<DeliveryRow> rows;
        for (int i = 0; i < 40; ++i) {
          auto row = random_row<DeliveryRow>(random);
          row.problem = grid.problem;
          row.segment = SegmentId{i + 1};
          make_key(row.digest);
          row.answered_at = i % 3 == 0 ? Timestamp{} : noon + std::chrono::seconds{i % 3};
          must(store.put_delivery(row));
          check_same(std::vector{must(store.delivery(row.unit, row.host, row.range, row.digest)).value()},
                     std::vector{row});
          CHECK(!must(store.delivery(row.unit, row.host, row.range, std::string(64, '0'))));
          if (i % 3 != 1) rows.push_back(row);
        }
        return rows;
      },
      [&](Store& store, const Grid&) { return must(store.deliveries(noon + std::chrono::seconds{1})); });
}

TEST_CASE("of a segment that was passed on, only its bytes are gone") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  SegmentId kept, blob;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    SegmentRow row = simple_segment(grid, {0, 10});
    row.place = SegmentPlace::store;
    kept = must(store->add_segment(row, "bytes"));
    must(store->accept(grid.problem, 0, row.range, kept));
    row = simple_segment(grid, {10, 20});
    row.place = SegmentPlace::blob;
    row.digest = std::string(64, 'd');
    blob = must(store->add_segment(row, {}));
    must(store->accept(grid.problem, 0, row.range, blob));
  });
  CHECK(must(store->segment_bytes(kept)) == "bytes");
  const auto refers = [&] {
    const auto all = must(store->referenced_blobs());
    return std::find(all.begin(), all.end(), std::string(64, 'd')) != all.end();
  };
  CHECK(refers());
  in_transaction(*store, [&] {
    must(store->pass_segment(kept));
    must(store->pass_segment(blob));
  });
  CHECK(store->segment_bytes(kept).error().kind == ErrorKind::not_found);
  CHECK(!refers());
  CHECK(must(store->kept_segments({}, 10)).empty());
  CHECK(must(store->accepted(grid.problem, 0)).size() == 2);
  CHECK(must(store->segments_over(grid.problem, 0, {0, 20})).size() == 2);
}

TEST_CASE("decisions survive, newest first") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<DecisionRow> rows;
        for (int i = 0; i < 100; ++i) {
          auto row = random_row<DecisionRow>(random);
          row.problem = grid.problem;
          must(store.add_decision(row));
          rows.insert(rows.begin(), row);
        }
        check_same(must(store.decisions(grid.problem, 7)), std::vector(rows.begin(), rows.begin() + 7));
        CHECK(must(store.decisions(grid.problem, 0)).empty());
        CHECK(must(store.decisions(grid.problem, -1)).empty());
        return rows;
      },
      [](Store& store, const Grid& grid) { return must(store.decisions(grid.problem, 1000)); });
}

TEST_CASE("results survive and are replaced as a whole") {
  check_round_trip(
      [](Store& store, const Grid& grid, Random& random) {
        std::vector<protocol::ResultFile> rows(9);
        must(store.put_results(grid.problem, rows));
        rows = std::vector<protocol::ResultFile>(5);
        for (auto& row : rows) row = random_row<protocol::ResultFile>(random);
        must(store.put_results(grid.problem, rows));
        return rows;
      },
      [](Store& store, const Grid& grid) { return must(store.results(grid.problem)); });
}

TEST_CASE("named values survive") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  in_transaction(*store, [&] {
    CHECK(!must(store->get_value("project")));
    must(store->set_value("project", "first"));
    must(store->set_value("project", std::string("with\0nul", 8)));
    must(store->set_value("empty", ""));
  });
  store.reset();
  store = open_store(directory.path());
  CHECK(must(store->get_value("project")).value() == std::string("with\0nul", 8));
  CHECK(must(store->get_value("empty")).value().empty());
}

TEST_CASE("what is referred to is listed once, and nothing else") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  const auto digest = [](char digit) { return std::string(64, digit); };
  must(store->begin());
  const Grid grid = add_grid(*store);  // archive aaaa…
  StageRow stage;
  stage.problem = grid.problem;
  stage.stage = 1;
  stage.inputs = {{"x", digest('1'), 5, std::nullopt}, {"y", digest('2'), 5, Range{0, 4}}};
  must(store->put_stage(stage));
  ProblemRow problem = must(store->problems()).front();
  problem.inputs = {{"z", digest('3'), 1, std::nullopt}, {"x", digest('1'), 5, std::nullopt}};
  must(store->update_problem(problem));
  (void)must(store->add_segment(simple_segment(grid, {0, 5}), {}));  // bbbb…
  (void)must(store->add_segment(simple_segment(grid, {5, 9}), {}));
  must(store->put_results(grid.problem, {{"picture.png", digest('4'), 9, "image/png"}}));
  CHECK(must(store->referenced_blobs()) ==
        std::vector{digest('1'), digest('2'), digest('3'), digest('4'), digest('a'), digest('b')});
  must(store->delete_problem(grid.problem));
  CHECK(must(store->referenced_blobs()) == std::vector{digest('a')});
  must(store->commit());
}
