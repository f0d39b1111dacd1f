// A store of an earlier schema whose migration fails, or whose server is killed or finds the disk full, at
// any statement: afterwards it is migrated as if nothing had been, to the same rows.
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

#include "shared/base/failpoint.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/old_store.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using ::gleaner::testing::TemporaryDirectory;

namespace {

std::vector<std::string> lines_of(sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  std::vector<std::string> lines;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    lines.emplace_back();
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      lines.back() += std::string("|") + (text != nullptr ? text : "(null)");
    }
  }
  sqlite3_finalize(statement);
  return lines;
}

// Every table's text and rows, and that SQLite finds the file whole.
std::vector<std::string> contents(const io::Path& path) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &connection) == SQLITE_OK);
  CHECK(lines_of(connection, "PRAGMA integrity_check") == std::vector<std::string>{"|ok"});
  CHECK(lines_of(connection, "PRAGMA foreign_key_check").empty());
  std::vector<std::string> all =
      lines_of(connection, "SELECT type, name, sql FROM sqlite_schema ORDER BY name");
  for (const std::string& table :
       lines_of(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"))
    for (const std::string& row : lines_of(connection, "SELECT * FROM " + table.substr(1) + " ORDER BY 1, 2"))
      all.push_back(table + row);
  sqlite3_close(connection);
  return all;
}

// As make_old_store(), which is slow, does it once.
void put_old_store(const io::Path& path, int step) {
  static std::map<int, Bytes> made;
  Bytes& bytes = made[step];
  if (bytes.empty()) {
    const TemporaryDirectory directory;
    make_old_store(directory.path(), step);
    bytes = must(io::real_files().read(directory / "store.sqlite", 1 << 30));
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

// What an undisturbed migration from after that step leads to.
const std::vector<std::string>& undisturbed(int step) {
  static std::map<int, std::vector<std::string>> known;
  auto& all = known[step];
  if (all.empty()) {
    const TemporaryDirectory directory;
    put_old_store(directory / "store.sqlite", step);
    open_store(directory.path()).reset();
    all = contents(directory / "store.sqlite");
  }
  return all;
}

// Afterwards it opens, is migrated, and says all it would have said.
void check_goes_on(const TemporaryDirectory& directory, int step) {
  open_store(directory.path(), OpenCheck::quick_check).reset();
  CHECK(contents(directory / "store.sqlite") == undisturbed(step));
}

std::vector<std::string> statements_of(const char* sql) {
  std::vector<std::string> statements;
  std::string text;
  for (; *sql != '\0'; ++sql) {
    text += *sql;
    if (*sql != ';' || sqlite3_complete(text.c_str()) == 0) continue;
    statements.push_back(std::move(text));
    text.clear();
  }
  return statements;
}

// The first steps, of which the last is cut after `count` statements, with `then` behind them.
struct CutSteps {
  CutSteps(int step, std::size_t count, const std::string& then)
      : steps(migrations().begin(), migrations().begin() + step) {
    const auto statements = statements_of(steps.back().sql);
    for (std::size_t i = 0; i < count; ++i) text += statements[i];
    text += then;
    steps.back().sql = text.c_str();
  }
  std::string text;
  std::vector<Migration> steps;
};

}  // namespace

TEST_CASE("a migration that fails at any statement leaves the store as it was, and goes on") {
  const int step = GENERATE(range(2, newest() + 1));
  const auto statements = statements_of(migrations()[static_cast<std::size_t>(step - 1)].sql);
  REQUIRE(!statements.empty());
  for (std::size_t count = 0; count <= statements.size(); ++count) {
    INFO("schema " << schema_after(step) << ", after " << count << " statements");
    const TemporaryDirectory directory;
    const io::Path path = directory / "store.sqlite";
    put_old_store(path, step - 1);
    const auto before = contents(path);
    const CutSteps cut(step, count, "INSERT INTO no_such_table VALUES (1);");
    {
      const auto database = must(Database::open(path.string(), Database::Create::no));
      CHECK(!migrate(*database, cut.steps).ok());
    }
    CHECK(contents(path) == before);
    check_goes_on(directory, step - 1);
  }
}

TEST_CASE("a server killed at any statement of a migration loses nothing") {
  const int step = GENERATE(range(2, newest() + 1));
  const auto statements = statements_of(migrations()[static_cast<std::size_t>(step - 1)].sql);
  for (std::size_t count = 0; count <= statements.size(); ++count) {
    INFO("schema " << schema_after(step) << ", after " << count << " statements");
    const TemporaryDirectory directory;
    const io::Path path = directory / "store.sqlite";
    put_old_store(path, step - 1);
    const CutSteps cut(step, count, "");
    {
      // "migration-step" comes after the statements and before the commit.
      Child child([&](const Child::Report& report) {
        killed_at = "migration-step", countdown = 1;
        failpoint_hook = kill_there;
        const auto database = Database::open(path.string(), Database::Create::no);
        if (database.ok()) (void)migrate(**database, cut.steps);
        report.line("it was not killed");
      });
      CHECK(!child.line());
    }
    check_goes_on(directory, step - 1);
  }
}

TEST_CASE("a server killed between any two migrations of any earlier store loses nothing") {
  const int step = GENERATE(range(1, newest()));
  for (int steps = 1; step + steps <= newest(); ++steps) {
    INFO("from schema " << schema_after(step) << ", killed after " << steps << " steps");
    const TemporaryDirectory directory;
    put_old_store(directory / "store.sqlite", step);
    {
      Child child([&](const Child::Report& report) {
        killed_at = "migration-synced", countdown = steps;
        failpoint_hook = kill_there;
        (void)open_sqlite_store(directory.path(), OpenCheck::none);
        report.line("it was not killed");
      });
      CHECK(!child.line());
    }
    {
      const auto database = must(Database::open((directory / "store.sqlite").string(), Database::Create::no));
      CHECK(must(database->schema_version()) == schema_after(step + steps));
    }
    check_goes_on(directory, step);
  }
}

TEST_CASE("a migration that finds the disk full, wherever it is, says so, and goes on afterwards") {
  constexpr int step = 1;
  int refused = 0, opened = 0;
  // The log grows from nothing: some pages more each time, until there is room for all.
  for (rlim_t bytes = 0; opened == 0; bytes += 3 * 4096) {
    INFO("from schema " << schema_after(step) << ", " << bytes << " bytes of log");
    REQUIRE(bytes < 4 << 20);
    const TemporaryDirectory directory;
    put_old_store(directory / "store.sqlite", step);
    {
      Child child([&](const Child::Report& report) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, bytes};
        CHECK_TRUE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
        const auto store = open_sqlite_store(directory.path(), OpenCheck::none);
        report.line(store.ok() ? "opened" : store.error().message);
      });
      const auto said = child.line();
      REQUIRE(said);
      if (*said == "opened")
        ++opened;
      else
        ++refused;
      if (*said != "opened") CHECK_THAT(*said, Catch::Matchers::Contains("free"));
    }
    check_goes_on(directory, step);
  }
  CHECK(refused > 3);
}
