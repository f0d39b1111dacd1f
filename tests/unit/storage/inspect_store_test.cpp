// What is damaged in a store's rows is found on every engine, and nothing where nothing is.
#include "server/storage/inspect_store.h"

#include <map>
#include <set>

#include "tests/catch.h"
#include "tests/unit/storage/filled_store.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

StoreInspection inspect(const io::Path& directory) {
  const std::string url = EngineUnderTest::url(directory);
  const auto held = must(hold_store(url, directory));
  return must(inspect_store(url, directory));
}

void fill_store(const io::Path& directory) {
  Random random(20);
  fill(*open_store(directory), random, 40);
}

// Deletes rows that others refer to, which neither engine does by itself.
void tear_out(const io::Path& directory, const std::string& table) {
  if (EngineUnderTest::url(directory).empty())
    return change(directory, "PRAGMA foreign_keys = OFF; DELETE FROM " + table);
  const auto session = must(Postgres::open(EngineUnderTest::url(directory)));
  must(session->execute("SET session_replication_role = replica; DELETE FROM " + table));
}

}  // namespace

TEST_CASE("in a store that is whole nothing is found, and it is counted") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  fill_store(directory.path());
  const StoreInspection store = inspect(directory.path());
  CHECK(store.broken.empty());
  CHECK(store.strays.empty());
  CHECK(store.twice == 0);
  CHECK(store.gaps.empty());
  CHECK(store.elsewhere.empty());
  CHECK(store.hosts == 2);
  CHECK(store.schema == store.schema_known);
  CHECK(store.problems.begin()->second.accepted == 300);
  CHECK(store.problems.begin()->second.items == 1000);
  CHECK(store.kept == 150);
  CHECK(store.damaged.size() == 150);  // their bytes are not what their digests say
  CHECK(store.present.generation > 0);
}

TEST_CASE("rows without those that they refer to are found, whatever the schema lets refer to what") {
  ON_EVERY_ENGINE;
  // By the schema itself.
  std::map<std::string, std::set<std::string>> children;
  {
    const TemporaryDirectory directory;
    must(storage::open_store("", directory.path(), {}));
    const auto database = must(Database::open((directory / store_file).string(), Database::Create::no));
    Query query = database->query(
        "SELECT t.name, k.\"table\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = "
        "'table'");
    for (const auto& [child, parent] : must(all_rows(query, [](Query& row) {
           std::pair<std::string, std::string> names;
           row.take_all(names.first, names.second);
           return names;
         })))
      children[parent].insert(child);
  }
  REQUIRE(children.size() >= 4);
  for (const auto& [parent, all] : children) {
    INFO(parent);
    const TemporaryDirectory directory;
    fill_store(directory.path());
    tear_out(directory.path(), parent);
    const StoreInspection store = inspect(directory.path());
    for (const std::string& child : all) {
      INFO(child);
      CHECK(store.strays.contains({child, parent}));
    }
    CHECK(store.strays.size() == all.size());
  }
}

TEST_CASE("accepted items without their segments, or twice, are found") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  fill_store(directory.path());
  change(directory.path(),
         "DELETE FROM segments WHERE range_begin = 7; UPDATE accepted SET range_end = 14 WHERE range_begin = "
         "12");
  const StoreInspection store = inspect(directory.path());
  REQUIRE(store.gaps.size() == 2);
  CHECK(store.gaps[0].items == Range{7, 8});
  CHECK(store.gaps[1].items == Range{12, 14});
  CHECK(store.twice == 1);
}

TEST_CASE("a store is not looked into while a server runs, and a moved one says so") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  fill_store(directory.path());
  const std::string url = EngineUnderTest::url(directory.path());
  {
    const auto store = open_store(directory.path());
    CHECK(!hold_store(url, directory.path()).ok());
  }
  change(directory.path(), "INSERT INTO named_values VALUES ('moved', 'somewhere else')");
  CHECK_THAT(inspect(directory.path()).elsewhere, Contains("somewhere else"));
}
