// What is PostgreSQL's own: databases that are not ours, schemas that cannot be migrated, batches that are
// refused as a whole, texts that it cannot hold, connections that break.
#include "server/storage/postgres.h"

#include <thread>

#include "server/storage/migrations.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

// A database of the test's own, and whatever else speaks to it.
struct OwnDatabase {
  EngineUnderTest engine{Engine::postgres};
  TemporaryDirectory directory;
  std::string url = EngineUnderTest::url(directory.path());

  void run(const std::string& sql) const { must(must(Postgres::open(url))->execute(sql)); }
  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    const auto session = must(Postgres::open(url));
    Query query = session->query(sql);
    REQUIRE(must(query.step()));
    std::int64_t found = 0;
    query.take(found);
    return found;
  }
  [[nodiscard]] Error refused() const {
    const auto store = storage::open_store(url, directory.path(), {});
    REQUIRE(!store.ok());
    return store.error();
  }
};

std::vector<std::string> one_by_one(const char* sql) {
  std::vector<std::string> statements(1);
  for (; *sql != '\0'; ++sql) {
    statements.back() += *sql;
    if (*sql == ';') statements.emplace_back();
  }
  statements.pop_back();
  return statements;
}

}  // namespace

TEST_CASE("PostgreSQL: a database of another program, and a newer schema, are refused as they are") {
  if (no_postgres()) return;
  const OwnDatabase database;
  SECTION("another program's") {
    database.run("CREATE TABLE bookmarks (url text)");
    CHECK_THAT(database.refused().message, Contains("another program"));
    CHECK(database.number("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'") ==
          2);
  }
  SECTION("newer") {
    open_store(database.directory.path()).reset();
    database.run("INSERT INTO schema_version VALUES (1000, 'from the future')");
    CHECK_THAT(database.refused().message, Contains("newer gleaner-server"));
  }
  SECTION("not there") {
    const auto store =
        storage::open_store(PostgresCluster::started().url("nowhere"), database.directory.path(), {});
    REQUIRE(!store.ok());
    CHECK(store.error().kind == ErrorKind::unavailable);
    CHECK_THAT(store.error().message, Contains("nowhere"));
  }
}

TEST_CASE("PostgreSQL: a migration that fails at any statement leaves the schema before it, and goes on") {
  if (no_postgres()) return;
  const auto all = migrations();
  const std::size_t before = GENERATE(range(std::size_t{0}, migrations().size()));  // steps
  const auto statements = one_by_one(all[before].sql);
  const OwnDatabase database;
  {
    const auto session = must(Postgres::open(database.url));
    if (before > 0) must(migrate(*session, all.first(before)));
    std::string text;
    for (std::size_t count = 0; count <= statements.size(); ++count) {
      std::vector<Migration> steps(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before) + 1);
      const std::string cut = text + "INSERT INTO no_such_table VALUES (1);";
      steps.back().sql = cut.c_str();
      const Status done = migrate(*session, steps);
      REQUIRE(!done.ok());
      CHECK_THAT(done.error().message, Contains("migrating the store to schema"));
      CHECK(must(session->schema_version()) == (before == 0 ? 0 : all[before - 1].version));
      if (count < statements.size()) text += statements[count];
    }
  }
  auto store = open_store(database.directory.path());
  in_transaction(*store, [&] { (void)add_grid(*store); });
  CHECK(database.number("SELECT max(version) FROM schema_version") == all.back().version);
}

TEST_CASE("PostgreSQL: a row that the database refuses takes its whole transaction with it") {
  if (no_postgres()) return;
  const OwnDatabase database;
  auto store = open_store(database.directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  const auto before = store->generation();
  must(store->begin());
  must(store->set_value("a", "lost with it"));
  SECTION("told by the commit") {
    must(store->put_unit(ProblemId{77}, 0, simple_unit(grid, UnitId{1}, {0, 1})));
    CHECK(store->commit().error().kind == ErrorKind::not_found);
  }
  SECTION("told by the next thing that is read") {
    must(store->put_unit(ProblemId{77}, 0, simple_unit(grid, UnitId{1}, {0, 1})));
    CHECK(store->hosts().error().kind == ErrorKind::not_found);
    CHECK(store->set_value("a", "b").error().kind == ErrorKind::not_found);
    CHECK(store->commit().error().kind == ErrorKind::not_found);
  }
  SECTION("a host that is not there") {
    HostRow host = simple_host(9);
    host.id = HostId{99};
    must(store->update_host(host));
    CHECK(store->commit().error().kind == ErrorKind::not_found);
  }
  SECTION("a second row of the same key") {
    must(store->add_act({1, {}, "a", "owner", "b", "c", "d", ""}));
    CHECK(store->add_act({1, {}, "a", "owner", "b", "c", "d", ""}).error().kind == ErrorKind::conflict);
    store->rollback();
  }
  CHECK(store->generation() == before);
  in_transaction(*store, [&] { CHECK(!must(store->get_value("a"))); });  // and the next goes on
  in_transaction(*store, [&] { must(store->set_value("a", "b")); });
  CHECK(must(store->get_value("a")) == "b");
}

TEST_CASE("PostgreSQL: more rows than are gathered at once, and rows as large as are kept, arrive") {
  if (no_postgres()) return;
  const OwnDatabase database;
  auto store = open_store(database.directory.path());
  constexpr int rows = 12'000;
  Grid grid;
  SegmentRow segment;
  std::vector<SegmentId> kept;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    for (int i = 1; i <= rows; ++i)
      must(store->put_unit(grid.problem, 0, simple_unit(grid, UnitId{i}, {i, i + 1})));
    for (int i = 0; i < 150; ++i) {
      segment = simple_segment(grid, {i, i + 1});
      segment.place = SegmentPlace::store;
      kept.push_back(must(store->add_segment(segment, Bytes(64 << 10, static_cast<char>(i)))));
    }
  });
  CHECK(must(store->open_units(grid.problem, 0)).size() == rows);
  for (std::size_t i = 0; i < kept.size(); ++i)
    REQUIRE(must(store->segment_bytes(kept[i])) == Bytes(64 << 10, static_cast<char>(i)));
}

TEST_CASE("PostgreSQL: text that is none comes back as it was") {
  if (no_postgres()) return;
  const OwnDatabase database;
  auto store = open_store(database.directory.path());
  const std::vector<std::string> texts = {std::string("\0", 1),
                                          "\xFF\xFE",
                                          "\x1A",
                                          "a\x1A"
                                          "00b",
                                          "ü\xC3",
                                          "\xED\xA0\x80"};
  for (const auto& text : texts) {
    in_transaction(*store, [&] {
      must(store->set_value("text", text));
      CHECK(must(store->get_value("text")) == text);  // not written yet
    });
    CHECK(must(store->get_value("text")) == text);
  }
}

TEST_CASE("PostgreSQL: a server that is killed in mid-transaction loses nothing that was committed") {
  if (no_postgres()) return;
  const OwnDatabase database;
  open_store(database.directory.path()).reset();
  Random random(4);
  std::int64_t reported = 0;
  for (int round = 0; round < 12; ++round) {
    {
      Child child([&](const Child::Report& report) {
        const auto store = storage::open_store(database.url, database.directory.path(), {});
        if (!store.ok()) return report.line(store.error().message);
        for (std::int64_t i = reported + 1;; ++i) {
          const Status done = [&]() -> Status {
            TRY((*store)->begin());
            TRY((*store)->set_value("count", std::to_string(i)));
            TRY((*store)->set_value("same", std::to_string(i)));
            return (*store)->commit();
          }();
          report.line(done.ok() ? std::to_string(i) : done.error().message);
        }
      });
      const auto lines = 1 + random.below(20);
      for (std::uint64_t i = 0; i < lines; ++i) reported = std::stoll(child.line().value());
      child.kill();
      while (const auto line = child.line()) reported = std::stoll(*line);
    }
    auto store = open_store(database.directory.path());
    const std::int64_t count = std::stoll(must(store->get_value("count")).value());
    CHECK(must(store->get_value("same")) == std::to_string(count));
    CHECK(count >= reported);
    CHECK(count <= reported + 1);
    reported = count;
  }
}

TEST_CASE("PostgreSQL: a connection that breaks is told once, and nothing is believed stored") {
  if (no_postgres()) return;
  const OwnDatabase database;
  std::vector<std::string> told;
  auto store = must(storage::open_store(
      database.url, database.directory.path(),
      {OpenCheck::none, Loss::refused, {}, [&told](const Error& error) { told.push_back(error.message); }}));
  const bool in_transaction_then = GENERATE(false, true);
  if (in_transaction_then) {
    must(store->begin());
    must(store->set_value("a", "b"));
    CHECK(must(store->hosts()).empty());
  }
  database.run(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid "
      "FROM pg_database WHERE datname = current_database())");
  if (!in_transaction_then) {
    must(store->begin());
    must(store->set_value("a", "b"));
  }
  const Status done = store->commit();
  REQUIRE(!done.ok());
  CHECK(done.error().kind == ErrorKind::unavailable);
  CHECK_THAT(done.error().message, Contains("nothing of it is acknowledged"));
  CHECK(store->begin().error().kind == ErrorKind::unavailable);
  REQUIRE(told.size() == 1);
  CHECK(told.front() == done.error().message);
  store.reset();
  CHECK(!must(open_store(database.directory.path())->get_value("a")));
}
