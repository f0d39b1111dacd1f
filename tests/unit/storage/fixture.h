// A store of an engine of the test's choice, with hosts and a problem that other rows can refer to.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/open_store.h"
#include "server/storage/postgres.h"
#include "server/storage/sqlite.h"
#include "server/storage/store.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/storage/postgres_cluster.h"

namespace gleaner::storage::testing {

// The value, or a failed test with the error's message.
template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

enum class Engine { sqlite, postgres };

// Those that this computer has.
inline std::vector<Engine> engines() {
  if (postgres_programs()) return {Engine::sqlite, Engine::postgres};
  // What cannot be tested here must not pass.
  FAIL_CHECK("PostgreSQL is not installed (tools/setup test), or other users can run nothing here");
  return {Engine::sqlite};
}

inline bool no_postgres() {
  return engines().size() < 2;
}

// While it lives, open_store() opens stores of the engine: one for each directory that it is given.
class EngineUnderTest {
 public:
  explicit EngineUnderTest(Engine engine) : engine_(engine) { present() = this; }
  ~EngineUnderTest() {
    present() = nullptr;
    for (const auto& [directory, name] : databases_) PostgresCluster::started().drop_database(name);
  }
  EngineUnderTest(const EngineUnderTest&) = delete;
  EngineUnderTest& operator=(const EngineUnderTest&) = delete;

  // Empty: SQLite.
  [[nodiscard]] static std::string url(const io::Path& directory) {
    if (present() == nullptr || present()->engine_ == Engine::sqlite) return "";
    std::string& name = present()->databases_[directory];
    if (name.empty()) name = PostgresCluster::started().create_database();
    return PostgresCluster::started().url(name);
  }

 private:
  static EngineUnderTest*& present() {
    static EngineUnderTest* engine = nullptr;
    return engine;
  }
  Engine engine_;
  std::map<io::Path, std::string> databases_;
};

// At the start of a test: it is run on each engine.
#define ON_EVERY_ENGINE \
  const EngineUnderTest engine_under_test(GENERATE(Catch::Generators::from_range(engines())))

inline std::unique_ptr<Store> open_store(const io::Path& directory, OpenCheck check = OpenCheck::none) {
  return must(
      storage::open_store(EngineUnderTest::url(directory), directory, {check, Loss::refused, {}, {}}));
}

// The database itself, for what a store does not do; made if it is not there.
inline std::unique_ptr<Connection> connect(const io::Path& directory) {
  const std::string url = EngineUnderTest::url(directory);
  if (!url.empty()) return must(Postgres::open(url));
  return must(Database::open((directory / store_file).string(), Database::Create::yes));
}
// Behind the store's back, in SQLite's words.
inline void change(const io::Path& directory, const std::string& sql) {
  must(connect(directory)->execute_schema(sql.c_str()));
}

// Runs `work` in a transaction of its own.
template <typename Work>
void in_transaction(Store& store, Work work) {
  must(store.begin());
  work();
  must(store.commit());
}

inline HostRow simple_host(int number) {
  HostRow row;
  row.name = "host " + std::to_string(number);
  row.public_key = "key " + std::to_string(number);
  row.machine = "machine";
  row.token_digest = "token " + std::to_string(number);
  row.platform = "x86_64-linux";
  return row;
}

struct Grid {
  std::vector<HostId> hosts;
  ApplicationId application;
  ProblemId problem;
};

inline ProblemId add_problem(Store& store, ApplicationId application, const std::string& name) {
  ProblemRow row;
  row.name = name;
  row.application = application;
  row.parameters = "{}";
  row.strategy = "wis";
  return must(store.add_problem(row));
}

// Two hosts, an application, a problem with a stage 0 of 1000 items. REQUIRES: a transaction is open.
inline Grid add_grid(Store& store) {
  Grid grid;
  for (int number = 0; number < 2; ++number) grid.hosts.push_back(must(store.add_host(simple_host(number))));
  ApplicationRow application;
  application.name = "app";
  application.version = "1";
  application.archive = std::string(64, 'a');
  grid.application = must(store.add_application(application));
  grid.problem = add_problem(store, grid.application, "problem");
  StageRow stage;
  stage.problem = grid.problem;
  stage.items = 1000;
  must(store.put_stage(stage));
  return grid;
}

inline SegmentRow simple_segment(const Grid& grid, Range range) {
  SegmentRow row;
  row.problem = grid.problem;
  row.unit = UnitId{1};
  row.host = grid.hosts.front();
  row.range = range;
  row.digest = std::string(64, 'b');
  return row;
}

inline policy::Unit simple_unit(const Grid& grid, UnitId id, Range range) {
  policy::Unit unit;
  unit.id = unit.group = id;
  unit.host = grid.hosts.front();
  unit.range = range;
  unit.committed = unit.finished = range.begin;
  unit.reason = "the first 60 seconds of work at 12.5 items a second, the most that fits in half a lease";
  return unit;
}

}  // namespace gleaner::storage::testing
