// Files that are damaged, foreign, newer, locked or cannot grow: a clear message, never a crash.
#include <sched.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "server/storage/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

Bytes read_whole(const io::Path& path) {
  return must(io::real_files().read(path, 1 << 30));
}

void write_whole(const io::Path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A store with enough rows for several pages of everything, closed.
Grid make_store(const io::Path& directory) {
  auto store = open_store(directory);
  Grid grid;
  in_transaction(*store, [&] {
    grid = add_grid(*store);
    StageRow stage;
    stage.problem = grid.problem;
    stage.stage = 1;
    for (int i = 0; i < 3000; ++i) stage.costs.push_back(i * 0.37);
    must(store->put_stage(stage));
    for (int i = 0; i < 300; ++i) {
      const Range range{i, i + 1};
      must(store->put_unit(grid.problem, 0, simple_unit(grid, must(store->next_unit()), range)));
      must(store->drop_segment(must(store->add_segment(simple_segment(grid, range), {}))));
      must(store->accept(grid.problem, 0, range, must(store->add_segment(simple_segment(grid, range), {}))));
      must(store->add_decision({grid.problem, 0, {}}));
    }
  });
  return grid;
}

Error refused(const io::Path& directory, OpenCheck check) {
  const auto store = open_sqlite_store(directory, check);
  REQUIRE(!store.ok());
  return store.error();
}

// Reads and writes everything; errors are welcome, crashes are not. True if all went well.
bool use(Store& store, const Grid& grid) {
  bool good = true;
  const auto note = [&](const auto& result) { good = good && result.ok(); };
  note(store.hosts());
  note(store.applications());
  note(store.problems());
  for (int stage = 0; stage < 2; ++stage) {
    note(store.stage(grid.problem, stage));
    note(store.open_units(grid.problem, stage));
    note(store.host_records(grid.problem, stage));
    note(store.accepted(grid.problem, stage));
    note(store.segments_over(grid.problem, stage, {0, 1000}));
  }
  note(store.verdicts(grid.problem));
  note(store.failures(grid.problem));
  note(store.decisions(grid.problem, 1000));
  note(store.results(grid.problem));
  note(store.referenced_blobs());
  note(store.begin());
  const auto unit = store.next_unit();
  note(unit);
  if (unit.ok()) note(store.put_unit(grid.problem, 0, simple_unit(grid, *unit, {5, 9})));
  const auto segment = store.add_segment(simple_segment(grid, {0, 40}), {});
  note(segment);
  if (segment.ok()) note(store.accept(grid.problem, 0, {0, 40}, *segment));
  note(store.add_decision({grid.problem, 0, {}}));
  note(store.delete_problem(grid.problem));
  if (good)
    note(store.commit());
  else
    store.rollback();
  return good;
}

}  // namespace

TEST_CASE("a damaged head, a cut file and foreign files are refused and say what to do") {
  const TemporaryDirectory directory;
  const io::Path path = directory / "store.sqlite";
  (void)make_store(directory.path());
  const Bytes whole = read_whole(path);
  const auto check = GENERATE(OpenCheck::none, OpenCheck::quick_check);

  SECTION("overwritten head") {
    write_whole(path, Bytes(100, 'x') + whole.substr(100));
  }
  SECTION("a text") {
    write_whole(path, "Dear diary, today I found a file named store.sqlite");
  }
  SECTION("empty") {
    write_whole(path, "");
  }
  SECTION("one byte") {
    write_whole(path, "S");
  }
  SECTION("only the head") {
    write_whole(path, whole.substr(0, 100));
  }
  SECTION("one page") {
    write_whole(path, whole.substr(0, 4096));
  }
  SECTION("half") {
    write_whole(path, whole.substr(0, whole.size() / 2));
  }
  SECTION("the last page is missing") {
    write_whole(path, whole.substr(0, whole.size() - 4096));
  }

  const Error error = refused(directory.path(), check);
  CHECK(error.kind == ErrorKind::invalid);
  CHECK_THAT(error.message,
             Contains("is damaged") && Contains("restore the newest backup") && Contains("store.sqlite"));
  // The whole file is as good as ever.
  write_whole(path, whole);
  CHECK(open_sqlite_store(directory.path(), OpenCheck::quick_check).ok());
}

TEST_CASE("a page cut in half at the end is found by looking at every page") {
  const TemporaryDirectory directory;
  (void)make_store(directory.path());
  const Bytes whole = read_whole(directory / "store.sqlite");  // whose last page is a free one
  write_whole(directory / "store.sqlite", whole.substr(0, whole.size() - 4096 - 2048));
  CHECK_THAT(refused(directory.path(), OpenCheck::quick_check).message,
             Contains("restore the newest backup"));
}

TEST_CASE("what is looked at beside is read meanwhile, and not written before it is found whole") {
  const TemporaryDirectory directory;
  const Grid grid = make_store(directory.path());
  const Bytes whole = read_whole(directory / "store.sqlite");
  {
    const auto store = open_store(directory.path(), OpenCheck::beside);
    CHECK(must(store->open_units(grid.problem, 0)).size() == 300);
    in_transaction(*store, [&] { must(store->set_value("written", "yes")); });
    must(store->checked());
  }
  CHECK(must(open_store(directory.path())->get_value("written")) == "yes");
  // A page that nothing looks at which is done below.
  bool hidden = false;
  for (auto page = whole.size() / 4096; !hidden && page > 1; --page) {
    for (const char* log : {"store.sqlite-wal", "store.sqlite-shm"}) std::filesystem::remove(directory / log);
    Bytes damaged = whole;
    damaged.replace((page - 1) * 4096, 4096, 4096, 'x');
    write_whole(directory / "store.sqlite", damaged);
    if (open_sqlite_store(directory.path(), OpenCheck::quick_check).ok()) continue;
    const auto store = open_sqlite_store(directory.path(), OpenCheck::none);
    hidden = store.ok() && (*store)->open_units(grid.problem, 0).ok() && (*store)->get_value("written").ok();
  }
  REQUIRE(hidden);
  {
    const auto store = open_store(directory.path(), OpenCheck::beside);
    CHECK(must(store->open_units(grid.problem, 0)).size() == 300);
    must(store->begin());
    must(store->set_value("written", "yes"));
    CHECK(store->commit().error().kind == ErrorKind::invalid);
    CHECK_THAT(store->checked().error().message, Contains("restore the newest backup"));
  }
  CHECK(must(open_store(directory.path())->get_value("written")) == std::nullopt);
}

TEST_CASE("random bytes anywhere in the file never crash the server") {
  const std::uint64_t seed = 31;
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory directory;
  const io::Path path = directory / "store.sqlite";
  const Grid grid = make_store(directory.path());
  const Bytes whole = read_whole(path);
  int refusals = 0, failures = 0;
  for (int round = 0; round < 150; ++round) {
    INFO("round " << round);
    Bytes damaged = whole;
    const auto page = random.below(whole.size() / 4096) * 4096;
    const auto changes = random.chance(0.5) ? random.between(1, 8) : random.between(100, 4096);
    for (std::int64_t i = 0; i < changes; ++i)
      damaged[page + random.below(4096)] = static_cast<char>(random.below(256));
    for (const char* log : {"store.sqlite-wal", "store.sqlite-shm"}) std::filesystem::remove(directory / log);
    write_whole(path, damaged);
    const auto check = random.chance(0.5) ? OpenCheck::quick_check : OpenCheck::none;
    auto store = open_sqlite_store(directory.path(), check);
    if (!store.ok()) {
      refusals++;
      CHECK(store.error().kind == ErrorKind::invalid);
    } else if (!use(**store, grid)) {
      failures++;
    }
  }
  CHECK(refusals > 20);
  CHECK(failures > 20);
}

TEST_CASE("a damaged log is not believed") {
  const TemporaryDirectory directory;
  const Grid grid = make_store(directory.path());
  write_whole(directory / "store.sqlite-wal", Bytes(100'000, 'w'));
  const auto store = open_store(directory.path(), OpenCheck::quick_check);
  CHECK(must(store->open_units(grid.problem, 0)).size() == 300);
}

TEST_CASE("a log without its store is not covered by a new store") {
  const TemporaryDirectory directory;
  (void)make_store(directory.path());
  std::filesystem::remove(directory / "store.sqlite");
  write_whole(directory / "store.sqlite-wal", "log");
  const Error error = refused(directory.path(), OpenCheck::none);
  CHECK(error.kind == ErrorKind::invalid);
  CHECK_THAT(error.message, Contains("is missing") && Contains("restore"));
}

TEST_CASE("numbers that this program never writes are damage") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  const Grid grid = make_store(directory.path());
  change(directory.path(),
         "UPDATE units SET kind = 7; UPDATE hosts SET state = 0; UPDATE stages SET set_aside = '[[1]]';"
         "UPDATE problems SET inputs = '{'; UPDATE applications SET platforms = '[1]';"
         "UPDATE accepted SET range_end = 0 WHERE range_begin = 7; UPDATE decisions SET stage = 3000000000");
  const auto store = open_store(directory.path());
  const auto is_damage = [](const auto& result) {
    return !result.ok() && result.error().kind == ErrorKind::invalid;
  };
  CHECK(is_damage(store->open_units(grid.problem, 0)));
  CHECK(is_damage(store->unit(UnitId{1})));
  CHECK(is_damage(store->hosts()));
  CHECK(is_damage(store->stage(grid.problem, 0)));
  CHECK(is_damage(store->problems()));
  CHECK(is_damage(store->applications()));
  CHECK(is_damage(store->decisions(grid.problem, 1)));
  CHECK(is_damage(store->referenced_blobs()));
}

TEST_CASE("damaged cost hints are noticed") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  const Grid grid = make_store(directory.path());
  const char* sql =
      GENERATE("UPDATE stage_costs SET costs = x'00112233'", "UPDATE stage_costs SET count = 2999",
               "UPDATE stage_costs SET count = 3001", "UPDATE stage_costs SET count = 1152921504606846976",
               "UPDATE stage_costs SET count = 0", "UPDATE stage_costs SET digest = x'00'");
  change(directory.path(), sql);
  const auto store = open_store(directory.path());
  const auto stage = store->stage(grid.problem, 1);
  REQUIRE(!stage.ok());
  CHECK(stage.error().kind == ErrorKind::invalid);
}

TEST_CASE("another program's file is refused as that") {
  const TemporaryDirectory directory;
  {
    const auto database = must(Database::open((directory / "store.sqlite").string(), Database::Create::yes));
    must(database->execute("CREATE TABLE bookmarks (url TEXT)"));
  }
  CHECK_THAT(refused(directory.path(), OpenCheck::none).message, Contains("another program"));
}

TEST_CASE("a second server on the same directory is refused") {
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  const Error here = refused(directory.path(), OpenCheck::none);
  CHECK(here.kind == ErrorKind::conflict);
  CHECK_THAT(here.message, Contains("another gleaner-server") && Contains(directory.path().string()));
  Child child([&](const Child::Report& report) {
    const auto second = open_sqlite_store(directory.path(), OpenCheck::none);
    report.line(second.ok() ? "opened" : second.error().message);
  });
  CHECK_THAT(child.line().value(), Contains("another gleaner-server"));
  child.kill();  // it has inherited the lock's descriptor
  store.reset();
  CHECK(open_sqlite_store(directory.path(), OpenCheck::none).ok());
}

TEST_CASE("a program started by the server does not hold its store") {
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Child child([](const Child::Report& report) {
    report.line("started");
    ::execl("/bin/sleep", "sleep", "30", static_cast<char*>(nullptr));
  });
  CHECK(child.line() == "started");
  store.reset();
  // Between fork and exec the child still has the descriptor.
  auto again = open_sqlite_store(directory.path(), OpenCheck::none);
  for (int i = 0; i < 10'000 && !again.ok(); ++i) {
    ::sched_yield();
    again = open_sqlite_store(directory.path(), OpenCheck::none);
  }
  CHECK(again.ok());
}

TEST_CASE("a reader, such as a backup, does not stop the server") {
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  in_transaction(*store, [&] { must(store->set_value("a", "1")); });
  const auto reader = must(Database::open((directory / "store.sqlite").string(), Database::Create::no));
  must(reader->execute("BEGIN; SELECT * FROM named_values"));
  in_transaction(*store, [&] { must(store->set_value("a", "2")); });
  CHECK(must(store->get_value("a")) == "2");
  must(reader->execute("COMMIT"));
}

TEST_CASE("a directory that cannot be made says so") {
  const TemporaryDirectory directory;
  write_whole(directory / "file", "");
  CHECK(refused(directory / "file", OpenCheck::none).kind == ErrorKind::io);
  std::filesystem::create_directories(directory / "state/store.sqlite");
  CHECK_THAT(refused(directory / "state", OpenCheck::none).message, Contains("store.sqlite"));
}

TEST_CASE("a store that cannot grow keeps what it has and goes on when there is room again") {
  const TemporaryDirectory directory;
  Grid grid;
  {
    auto store = open_store(directory.path());
    in_transaction(*store, [&] { grid = add_grid(*store); });
  }
  Child child([&](const Child::Report& report) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlim_t limit = 600'000;
    rlimit sizes{limit, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &sizes);
    const auto store = open_sqlite_store(directory.path(), OpenCheck::none);
    if (!store.ok()) return report.line(store.error().message);
    const auto cycle = [&](int count) -> Status {
      TRY((*store)->begin());
      for (int i = 0; i < 50; ++i)
        TRY((*store)->put_unit(grid.problem, 0, simple_unit(grid, UnitId{count * 50 + i + 1}, {i, i + 1})));
      TRY((*store)->set_value("count", std::to_string(count + 1)));
      return (*store)->commit();
    };
    int count = 0;
    Status done;
    while ((done = cycle(count)).ok() && count < 10'000) count++;
    (*store)->rollback();
    report.line(std::to_string(count));
    report.line(std::to_string(static_cast<int>(done.ok() ? ErrorKind::invalid : done.error().kind)));
    report.line(done.ok() ? "never full" : done.error().message);
    sizes.rlim_cur = RLIM_INFINITY;
    ::setrlimit(RLIMIT_FSIZE, &sizes);
    done = cycle(count);
    report.line(done.ok() ? "goes on" : done.error().message);
  });
  const std::int64_t count = std::stoll(child.line().value());
  CHECK(count > 3);
  CHECK(child.line() == std::to_string(static_cast<int>(ErrorKind::io)));
  CHECK_THAT(child.line().value(), Contains("store.sqlite") && Contains("space"));
  CHECK(child.line() == "goes on");
  CHECK(!child.line());
  const auto store = open_store(directory.path(), OpenCheck::quick_check);
  CHECK(must(store->get_value("count")) == std::to_string(count + 1));
  CHECK(must(store->open_units(grid.problem, 0)).size() == static_cast<std::size_t>(50 * (count + 1)));
}

TEST_CASE("a full disk loses the transaction, says so, and nothing else of it can be written") {
  const TemporaryDirectory directory;
  const auto database = must(Database::open((directory / "any.sqlite").string(), Database::Create::yes));
  must(database->execute("CREATE TABLE bytes (value BLOB); PRAGMA max_page_count = 20"));
  must(database->begin());
  must(database->query("INSERT INTO bytes VALUES (?)").add_bytes("small").run());
  const Bytes large(200'000, 'x');
  const Status full = database->query("INSERT INTO bytes VALUES (?)").add_bytes(large).run();
  REQUIRE(!full.ok());
  CHECK(full.error().kind == ErrorKind::io);
  CHECK_THAT(full.error().message, Contains("the disk is full: free some space"));
  CHECK(database->query("INSERT INTO bytes VALUES (?)").add_bytes("small").run().error() == full.error());
  CHECK(database->commit().error() == full.error());
  must(database->begin());
  must(database->query("INSERT INTO bytes VALUES (?)").add_bytes("after").run());
  must(database->commit());
  Query count = database->query("SELECT count(*) FROM bytes");
  std::int64_t rows = 0;
  REQUIRE(must(count.step()));
  count.take(rows);
  CHECK(rows == 1);
}
