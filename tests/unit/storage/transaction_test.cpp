// Transactions: all or nothing, ids that never come twice, names that are taken, and what deleting a problem
// leaves.
#include <algorithm>
#include <set>

#include "server/storage/all_tables.h"
#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/rows.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using ::gleaner::testing::TemporaryDirectory;

namespace {

// One row of everything that belongs to a problem, with `unit` and a segment of its own.
void add_one_of_each(Store& store, const Grid& grid, UnitId unit) {
  must(store.put_unit(grid.problem, 0, simple_unit(grid, unit, {0, 10})));
  policy::HostRecord record;
  record.host = grid.hosts[0];
  must(store.put_host_record(grid.problem, 0, record));
  SegmentRow row = simple_segment(grid, {0, 10});
  row.unit = unit;
  const SegmentId segment = must(store.add_segment(row, {}));
  must(store.accept(grid.problem, 0, {0, 10}, segment));
  VerdictRow verdict;
  verdict.problem = grid.problem;
  must(store.add_verdict(verdict));
  FailureRow failure;
  failure.problem = grid.problem;
  must(store.add_failure(failure));
  must(store.add_decision({grid.problem, 0, {}}));
  StageRow stage;
  stage.problem = grid.problem;
  stage.stage = 1;
  stage.costs = {1, 2, 3};
  must(store.put_stage(stage));
  must(store.put_lease({unit, grid.problem, 0, {0, 10}, 10, {}, true, "chain"}));
  must(store.put_delivery({unit,
                           grid.hosts[0],
                           {0, 10},
                           row.digest,
                           grid.hosts[0],
                           segment,
                           grid.problem,
                           0,
                           unit,
                           5,
                           true,
                           1.5,
                           "said",
                           "",
                           {}}));
  must(store.put_results(grid.problem, {{"a", std::string(64, 'c'), 1, "image/png"}}));
}

template <typename Row>
std::size_t of_problem(const std::vector<Row>& rows, ProblemId problem) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.problem == problem; }));
}

// How many rows of each kind there are, seen through the interface.
std::vector<std::size_t> counts(Store& store, ProblemId problem, UnitId unit) {
  const auto held = must(store.unit(unit));
  const HostId host = held ? held->unit.host : HostId{1};
  return {must(store.open_units(problem, 0)).size(),
          must(store.unit(unit)).has_value(),
          must(store.host_records(problem, 0)).size(),
          must(store.segments_over(problem, 0, {0, 10})).size(),
          must(store.accepted(problem, 0)).size(),
          must(store.verdicts(problem)).size(),
          must(store.failures(problem)).size(),
          must(store.acknowledgement(unit, host, {0, 10}, std::string(64, 'b'))).has_value(),
          must(store.decisions(problem, 10)).size(),
          must(store.stage(problem, 1)).has_value(),
          of_problem(must(store.leases()), problem),
          of_problem(must(store.deliveries({})), problem),
          must(store.results(problem)).size()};
}

}  // namespace

TEST_CASE("a rollback drops everything, a commit keeps everything") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  const std::vector<std::size_t> nothing(13, 0), one_each(13, 1);
  CHECK(counts(*store, grid.problem, UnitId{1}) == nothing);

  SECTION("rolled back") {
    must(store->begin());
    add_one_of_each(*store, grid, UnitId{1});
    must(store->set_value("name", "value"));
    CHECK(counts(*store, grid.problem, UnitId{1}) == one_each);
    store->rollback();
    CHECK(counts(*store, grid.problem, UnitId{1}) == nothing);
    CHECK(!must(store->get_value("name")));
  }
  SECTION("closed without a commit") {
    must(store->begin());
    add_one_of_each(*store, grid, UnitId{1});
    store.reset();
    store = open_store(directory.path());
    CHECK(counts(*store, grid.problem, UnitId{1}) == nothing);
  }
  SECTION("committed, rolled back after") {
    in_transaction(*store, [&] { add_one_of_each(*store, grid, UnitId{1}); });
    store->rollback();
    CHECK(counts(*store, grid.problem, UnitId{1}) == one_each);
    store.reset();
    store = open_store(directory.path());
    CHECK(counts(*store, grid.problem, UnitId{1}) == one_each);
  }
}

TEST_CASE("a transaction that fails at any of its tables leaves nothing of it, and the next goes on") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  const std::vector<std::size_t> nothing(13, 0), one_each(13, 1);
  HostRow host = simple_host(0);
  host.id = grid.hosts[0];
  ProblemRow problem = must(store->problems()).front();
  const auto write_all = [&](UnitId unit) -> Status {
    StageRow stage;
    stage.problem = grid.problem;
    stage.stage = 1;
    stage.costs = {1, 2, 3};
    policy::HostRecord record;
    record.host = grid.hosts[0];
    VerdictRow verdict;
    verdict.problem = grid.problem;
    FailureRow failure;
    failure.problem = grid.problem;
    SegmentRow segment = simple_segment(grid, {0, 10});
    segment.place = SegmentPlace::store;
    TRY(store->begin());
    TRY(store->set_value("name", "value"));
    TRY(store->put_code({}));
    TRY(store->put_token({}));
    TRY(store->add_act({unit.value, {}, "a", "owner", "b", "c", "d", ""}));
    TRY(store->add_refusals({}));
    TRY(store->put_ban({}));
    TRY(store->add_to_day({}));
    TRY(store->put_standing(grid.hosts[0], grid.application, {}));
    TRY(store->update_host(host));
    TRY(store->update_problem(problem));
    ApplicationRow application;
    application.name = "other " + std::to_string(unit.value);
    TRY(store->add_application(application));
    TRY(store->put_unit(grid.problem, 0, simple_unit(grid, unit, {0, 10})));
    TRY(store->put_host_record(grid.problem, 0, record));
    TRY_ASSIGN(const SegmentId id, store->add_segment(segment, "bytes"));
    TRY(store->accept(grid.problem, 0, {0, 10}, id));
    TRY(store->add_verdict(verdict));
    TRY(store->add_failure(failure));
    TRY_ASSIGN(const SegmentId wrong, store->add_segment(segment, "other"));
    TRY(store->drop_segment(wrong));
    TRY(store->add_decision({grid.problem, 0, {}}));
    TRY(store->put_lease({unit, grid.problem, 0, {0, 10}, 10, {}, true, "chain"}));
    TRY(store->put_delivery({unit,
                             grid.hosts[0],
                             {0, 10},
                             segment.digest,
                             grid.hosts[0],
                             id,
                             grid.problem,
                             0,
                             unit,
                             5,
                             true,
                             1.5,
                             "said",
                             "",
                             {}}));
    TRY(store->pass_segment(id));
    TRY(store->put_stage(stage));
    TRY(store->put_results(grid.problem, {{"a", std::string(64, 'c'), 1, "image/png"}}));
    return store->commit();
  };
  for (const WholeTable& table : all_tables()) {
    INFO(table.table.name);
    const std::int64_t generation = store->generation().generation;
    change(directory.path(), "ALTER TABLE " + table.table.name + " RENAME TO away");
    CHECK(!write_all(UnitId{1}).ok());
    store->rollback();
    change(directory.path(), "ALTER TABLE away RENAME TO " + table.table.name);
    CHECK(counts(*store, grid.problem, UnitId{1}) == nothing);
    CHECK(!must(store->get_value("name")));
    CHECK(must(store->codes()).empty());
    CHECK(must(store->applications()).size() == 1);
    CHECK(store->generation().generation == generation);
  }
  must(write_all(UnitId{1}));
  CHECK(counts(*store, grid.problem, UnitId{1}) == one_each);
}

TEST_CASE("writing and committing need a transaction, and there is one at a time") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  CHECK(store->set_value("a", "b").error().kind == ErrorKind::internal);
  CHECK(store->next_unit().error().kind == ErrorKind::internal);
  CHECK(store->commit().error().kind == ErrorKind::internal);
  must(store->begin());
  CHECK(store->begin().error().kind == ErrorKind::internal);
  must(store->set_value("a", "b"));
  must(store->commit());
  CHECK(must(store->get_value("a")) == "b");
}

TEST_CASE("a taken name is a conflict that leaves the rest of the transaction usable") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  must(store->begin());
  const Grid grid = add_grid(*store);
  CHECK(store->add_host(simple_host(0)).error().kind == ErrorKind::conflict);
  HostRow same_token = simple_host(5);
  same_token.token_digest = simple_host(1).token_digest;
  CHECK(store->add_host(same_token).error().kind == ErrorKind::conflict);
  HostRow cloned_disk = simple_host(0);
  cloned_disk.machine = "another";
  cloned_disk.token_digest = "another";
  CHECK(store->add_host(cloned_disk).ok());

  ApplicationRow application;
  application.name = "app";
  application.version = "1";
  CHECK(store->add_application(application).error().kind == ErrorKind::conflict);
  application.version = "2";
  CHECK(store->add_application(application).ok());

  ProblemRow problem;
  problem.name = "problem";
  problem.application = grid.application;
  CHECK(store->add_problem(problem).error().kind == ErrorKind::conflict);
  must(store->set_value("after", "conflict"));
  must(store->commit());
  CHECK(must(store->get_value("after")) == "conflict");
  CHECK(must(store->hosts()).size() == 3);
}

TEST_CASE("rows of what does not exist are refused") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  const ProblemId nowhere{77};
  // At once, or by the commit.
  const auto check_refused = [&](auto work) {
    must(store->begin());
    Status done = work();
    if (done.ok())
      done = store->commit();
    else
      store->rollback();
    REQUIRE(!done.ok());
    CHECK(done.error().kind == ErrorKind::not_found);
  };
  check_refused([&] { return store->put_unit(nowhere, 0, simple_unit(grid, UnitId{1}, {0, 1})); });
  check_refused([&] { return store->add_decision({nowhere, 0, {}}); });
  check_refused([&] { return store->accept(grid.problem, 0, {0, 1}, SegmentId{9}); });
  check_refused([&] { return store->put_results(nowhere, {{"a", "b", 1, "c"}}); });
  check_refused([&] { return store->delete_problem(nowhere); });
  HostRow host = simple_host(9);
  host.id = HostId{99};
  check_refused([&] { return store->update_host(host); });
  check_refused([&] { return store->renew_host(host); });
  ProblemRow problem;
  problem.id = nowhere;
  problem.name = "x";
  problem.application = grid.application;
  check_refused([&] { return store->update_problem(problem); });
  problem.application = ApplicationId{5};
  in_transaction(*store, [&] { CHECK(store->add_problem(problem).error().kind == ErrorKind::not_found); });
  CHECK(must(store->problems()).size() == 1);
}

TEST_CASE("numbers of units begin where they are told to, and never before") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  const UnitId far{std::int64_t{7} << 28};
  in_transaction(*store, [&] {
    must(store->start_units(far));
    CHECK(must(store->next_unit()) == far);
    must(store->start_units(UnitId{5}));
    CHECK(must(store->next_unit()) == UnitId{far.value + 1});
  });
  must(store->begin());
  must(store->start_units(UnitId{far.value * 2}));
  store->rollback();
  store.reset();
  store = open_store(directory.path());
  in_transaction(*store, [&] {
    const UnitId next = must(store->next_unit());
    CHECK(next > UnitId{far.value + 1});
    CHECK(next < UnitId{far.value * 2});
  });
}

TEST_CASE("deleting a problem removes all of it and nothing else") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid, other;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    other = grid;
    other.problem = add_problem(*store, grid.application, "other");
    StageRow stage;
    stage.problem = other.problem;
    must(store->put_stage(stage));
    add_one_of_each(*store, grid, UnitId{1});
    add_one_of_each(*store, other, UnitId{2});
  });
  in_transaction(*store, [&] { must(store->delete_problem(grid.problem)); });
  CHECK(counts(*store, grid.problem, UnitId{1}) == std::vector<std::size_t>(13, 0));
  CHECK(!must(store->stage(grid.problem, 0)));
  CHECK(counts(*store, other.problem, UnitId{2}) == std::vector<std::size_t>(13, 1));
  CHECK(must(store->problems()).size() == 1);
  CHECK(must(store->hosts()).size() == 2);
  // Its number is not given again, even if it was the highest.
  in_transaction(*store, [&] { must(store->delete_problem(other.problem)); });
  store.reset();
  store = open_store(directory.path());
  in_transaction(*store, [&] { CHECK(add_problem(*store, grid.application, "new") > other.problem); });
}

TEST_CASE("unit and segment ids never come twice, whatever is rolled back or killed") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  constexpr std::uint64_t seed = 7;
  INFO("seed " << seed);
  Random random(seed);
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  UnitId last_unit{0};
  SegmentId last_segment{0};
  for (int round = 0; round < 60; ++round) {
    must(store->begin());
    const auto count = random.below(random.chance(0.1) ? 2500 : 40);
    for (std::uint64_t i = 0; i < count; ++i) {
      const UnitId unit = must(store->next_unit());
      REQUIRE(unit > last_unit);
      last_unit = unit;
      if (i % 8 != 0) continue;
      const SegmentId segment = must(store->add_segment(simple_segment(grid, {0, 1}), {}));
      REQUIRE(segment > last_segment);
      last_segment = segment;
    }
    if (random.chance(0.3)) {
      store->rollback();
    } else {
      must(store->commit());
      if (random.chance(0.2)) {
        store.reset();
        store = open_store(directory.path());
      }
    }
  }
}

TEST_CASE("an id given in a rolled-back transaction and used later does not come again") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  must(store->begin());
  UnitId spare{0};
  for (int i = 0; i < 1500; ++i) spare = must(store->next_unit());
  store->rollback();
  in_transaction(*store, [&] { must(store->put_unit(grid.problem, 0, simple_unit(grid, spare, {0, 1}))); });
  store.reset();
  store = open_store(directory.path());
  in_transaction(*store, [&] { CHECK(must(store->next_unit()) > spare); });
}

TEST_CASE("old decisions and failures are pruned, the newest stay") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  must(store->begin());
  grid = add_grid(*store);
  DecisionRow row;
  row.problem = grid.problem;
  constexpr std::int64_t added = 103'500;
  for (std::int64_t i = 1; i <= added; ++i) {
    row.decision.unit = UnitId{i};
    must(store->add_decision(row));
  }
  must(store->commit());
  const auto kept = must(store->decisions(grid.problem, 1'000'000));
  CHECK(kept.size() >= 100'000);
  CHECK(kept.size() < 101'000);
  CHECK(kept.front().decision.unit.value == added);
  CHECK(kept.back().decision.unit.value == added - static_cast<std::int64_t>(kept.size()) + 1);
}

TEST_CASE("a problem's number can be known before it is added, and is not used up by asking") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  in_transaction(*store, [&] {
    const ProblemId next = must(store->next_problem());
    CHECK(next.value == grid.problem.value + 1);
    CHECK(must(store->next_problem()) == next);
    ProblemRow row = must(store->problems()).front();
    row.name = "the one after the next";
    row.id = ProblemId{next.value + 1};
    CHECK(must(store->add_problem(row)) == row.id);
    CHECK(must(store->next_problem()).value == row.id.value + 1);
    must(store->delete_problem(row.id));
    CHECK(must(store->next_problem()).value == row.id.value + 1);  // never twice
  });
}

TEST_CASE("a host that has a number keeps it, and nobody else gets it") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  HostRow row = simple_host(0);
  row.id = HostId{1000};
  in_transaction(*store, [&] {
    CHECK(must(store->add_host(row)) == row.id);
    CHECK(must(store->add_host(simple_host(1))).value == 1001);
  });
  HostRow same_number = simple_host(2);
  same_number.id = row.id;
  in_transaction(*store, [&] { CHECK(store->add_host(same_number).error().kind == ErrorKind::conflict); });
}
