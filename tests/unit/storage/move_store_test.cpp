// A project's rows are moved between engines and back, also where that was interrupted anywhere, and are the
// same; nothing is moved over anything that is in use, and what was left is not served any more.
#include "server/storage/move_store.h"

#include <sqlite3.h>

#include <set>

#include "server/storage/all_tables.h"
#include "server/storage/copy_tables.h"
#include "server/storage/migrations.h"
#include "server/storage/sqlite.h"
#include "shared/base/failpoint.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/filled_store.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

void nothing(const MoveProgress&) {}

// A project in a directory, and an empty database beside it.
struct ToMove {
  EngineUnderTest engine{Engine::postgres};
  TemporaryDirectory directory, other;
  std::string url = EngineUnderTest::url(directory.path());

  [[nodiscard]] Result<MovedStore> move(const std::string& from, const std::string& to) const {
    return move_store(directory.path(), from, to, nothing);
  }
  [[nodiscard]] Result<std::unique_ptr<Store>> open(const std::string& where) const {
    return storage::open_store(where == store_file ? "" : where, directory.path(),
                               {OpenCheck::none, Loss::refused, [] { return false; }, {}});
  }
  [[nodiscard]] std::string refusal(const std::string& where) const {
    const auto store = open(where);
    return store.ok() ? "it is served" : store.error().message;
  }
};

// What a store says of itself: whatever is asked of it, in words.
std::vector<std::string> told(Store& store) {
  std::vector<std::string> all;
  const auto add = [&all](const auto& rows) {
    for (const auto& row : rows) all.push_back(text_of(row));
  };
  add(must(store.hosts()));
  add(must(store.codes()));
  add(must(store.tokens()));
  for (const DayRow& day : must(store.days(9)))
    all.push_back(std::to_string(day.core_seconds + static_cast<double>(day.items)));
  add(must(store.applications()));
  add(must(store.problems()));
  const ProblemId problem = must(store.problems()).front().id;
  for (int number = 0; number < 2; ++number)
    all.push_back(text_of(must(store.stage(problem, number)).value()));
  add(must(store.open_units(problem, 0)));
  add(must(store.host_records(problem, 0)));
  add(must(store.segments_over(problem, 0, {0, 1000})));
  add(must(store.verdicts(problem)));
  add(must(store.failures(problem)));
  add(must(store.results(problem)));
  for (const auto& row : must(store.accepted(problem, 0)))
    all.push_back(std::to_string(row.range.begin) + " " + std::to_string(row.segment.value));
  for (const auto& row : must(store.kept_segments(SegmentId{0}, 1000)))
    all.push_back(must(store.segment_bytes(row.id)));
  all.push_back(must(store.get_value("bytes")).value());
  all.push_back(std::to_string(must(store.next_problem()).value));
  all.push_back(std::to_string(store.generation().generation));
  return all;
}

}  // namespace

TEST_CASE("the list of tables names every table and column that the schema has") {
  const TemporaryDirectory directory;
  open_store(directory.path()).reset();
  const auto database = must(Database::open((directory / store_file).string(), Database::Create::no));
  std::set<std::string> there, listed;
  {
    Query query = database->query(
        "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = "
        "'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> 'schema_version'");
    for (const auto& name : must(all_rows(query, [](Query& row) {
           std::string text;
           row.take(text);
           return text;
         })))
      there.insert(name);
  }
  for (const WholeTable& table : all_tables())
    for (const Column& column : table.table.columns) listed.insert(table.table.name + "." + column.name);
  CHECK(there == listed);
}

TEST_CASE("rows are the same in a database, and back in a file") {
  if (no_postgres()) return;
  const std::uint64_t seed = 18;
  INFO("seed " << seed);
  Random random(seed);
  const ToMove project;
  std::vector<std::string> expected;
  {
    const auto store = must(project.open(store_file));
    fill(*store, random);
    expected = told(*store);
  }
  std::int64_t rows = 0;
  for (int round = 0; round < 2; ++round) {
    const std::string from = round == 0 ? store_file : project.url;
    const std::string to = round == 0 ? project.url : store_file;
    {
      MovedStore moved = must(project.move(from, to));
      CHECK(told(*moved.store) == expected);
      CHECK(moved.report.there == 0);
      CHECK(moved.report.rows > 26'000);
      if (round == 1) CHECK(moved.report.rows == rows);
      rows = moved.report.rows;
    }
    CHECK_THAT(project.refusal(from), Contains("were moved from") && Contains("store.url"));
    CHECK(told(*must(project.open(to))) == expected);
  }
  CHECK(!std::filesystem::exists(project.directory / "store.sqlite.moving"));
  // And away again, into what it left: nobody's any more.
  (void)must(project.move(store_file, project.url));
  const auto store = must(project.open(project.url));
  CHECK(told(*store) == expected);
  in_transaction(*store, [&] { CHECK(must(store->next_unit()).value > 25'000); });
}

TEST_CASE("a move that is killed at any step goes on where it was, and neither store is served meanwhile") {
  if (no_postgres()) return;
  const bool into_database = GENERATE(true, false);
  struct Place {
    const char* name;
    int nth;
  };
  const Place place =
      GENERATE(Place{"move-copied", 3}, Place{"move-copied", 16}, Place{"move-copied", 19},
               Place{"move-compared", 1}, Place{"move-given-up", 1}, Place{"move-in-place", 1});
  Random random(19);
  const ToMove project;
  std::string from = store_file, to = project.url;
  std::vector<std::string> expected;
  {
    const auto store = must(project.open(store_file));
    // Where a table is copied by more than one piece it needs the rows for that.
    fill(*store, random, place.nth == 16 ? 10'500 : 1'000);
    expected = told(*store);
  }
  if (!into_database) {
    (void)must(project.move(from, to));
    std::swap(from, to);
  }
  INFO((into_database ? "into the database, " : "into the file, ") << place.name << " " << place.nth);
  {
    Child child([&](const Child::Report& report) {
      killed_at = place.name, countdown = place.nth;
      failpoint_hook = kill_there;
      (void)project.move(from, to);
      report.line("it was not killed");
    });
    CHECK(!child.line());
  }
  const bool given_up =
      std::string_view(place.name) != "move-copied" && std::string_view(place.name) != "move-compared";
  const bool changed = place.nth == 16 && GENERATE(false, true);
  if (given_up) CHECK_THAT(project.refusal(from), Contains("were moved"));
  if (into_database) CHECK_THAT(project.refusal(to), Contains("finish `gleaner-server migrate`"));
  if (changed) {  // it was served in between: what was copied is old
    const auto store = must(project.open(from));
    in_transaction(*store, [&] { must(store->set_value("bytes", "changed")); });
    expected = told(*store);
  }
  MovedStore moved = must(project.move(from, to));
  CHECK(told(*moved.store) == expected);
  CHECK(moved.report.there > (place.nth == 16 ? 10'000 : 0));
  moved.store.reset();
  CHECK(told(*must(project.open(to))) == expected);
  CHECK_THAT(project.refusal(from), Contains("were moved from"));
}

namespace {

// Something of everything that can become of rows.
void live_on(Store& store, int round) {
  const ProblemId problem = must(store.problems()).front().id;
  const ApplicationId application = must(store.applications()).front().id;
  in_transaction(store, [&] {
    HostRow host = must(store.hosts()).front();
    host.name = "round " + std::to_string(round);
    host.token_digest = "token of round " + std::to_string(round);
    must(store.update_host(host));
    const Grid grid{{host.id, must(store.add_host(simple_host(10 + round)))}, application, problem};
    // A name that a problem had which is there no more.
    for (const ProblemRow& row : must(store.problems()))
      if (row.name == "again") must(store.delete_problem(row.id));
    const ProblemId again = add_problem(store, application, "again");
    for (int i = 0; i < 40; ++i) {
      must(store.put_unit(again, 0, simple_unit(grid, must(store.next_unit()), {i, i + 1})));
      policy::Unit unit = simple_unit(grid, UnitId{1 + i * (round + 3) * 20}, {0, i + 1});
      unit.reason = "round " + std::to_string(round);
      must(store.put_unit(problem, 0, unit));
    }
    must(store.unaccept(problem, 0, {10 * round, 10 * round + 5}));
    must(store.drop_segment(must(store.kept_segments(SegmentId{0}, 1)).front().id));
    protocol::Ban ban;
    ban.kind = protocol::BanKind::network;
    ban.subject = "198.51.100." + std::to_string(round);
    must(store.put_ban(ban));
    must(store.drop_ban(protocol::BanKind::network, round == 0 ? "192.0.2.1" : "198.51.100.0"));
    must(store.set_value("bytes", std::to_string(round)));
    must(store.put_standing(host.id, application, {}));
    must(store.add_to_day({20'001 + round, 1, 2, 3}));
  });
}

}  // namespace

TEST_CASE("rows that were copied ahead of a move, while they changed, are those that are moved") {
  if (no_postgres()) return;
  Random random(20);
  const ToMove project;
  std::string from = store_file, to = project.url;
  {
    const auto store = must(project.open(from));
    fill(*store, random, 10'500);
    live_on(*store, 0);
  }
  for (int round = 1; round <= 2; ++round) {
    std::vector<std::string> expected;
    {
      const auto store = must(project.open(from));
      const MoveReport first = must(copy_ahead(project.directory.path(), from, to, nothing));
      CHECK(first.there == 0);
      live_on(*store, 2 * round - 1);
      const MoveReport second = must(copy_ahead(project.directory.path(), from, to, nothing));
      CHECK(second.there > 11'000);
      CHECK(second.rows - second.there < 300);
      CHECK(project.refusal(to) != "it is served");
      live_on(*store, 2 * round);
      expected = told(*store);
    }
    {
      MovedStore moved = must(project.move(from, to));
      CHECK(told(*moved.store) == expected);
      CHECK(moved.report.there > 11'000);
      CHECK(moved.report.rows - moved.report.there < 300);
    }
    CHECK_THAT(project.refusal(from), Contains("were moved from"));
    const auto again = copy_ahead(project.directory.path(), from, to, nothing);
    CHECK(!again.ok());
    CHECK(told(*must(project.open(to))) == expected);
    std::swap(from, to);
  }
}

TEST_CASE("tables become the same whatever is there, and what is the same is not copied") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory first, second;
  std::vector<std::unique_ptr<Connection>> sides;
  const double present = random.uniform(), other = random.uniform() * random.uniform();
  const std::array<const char*, 4> texts{
      "INSERT INTO segment_bytes (bytes, segment) VALUES (?, ?)",
      "INSERT INTO standings (right_items, host, application, wrong_times, at, held_until) "
      "VALUES (?, ?, ? % 7, 0, 0, 0)",
      "INSERT INTO refusals (times, actor, kind, action, first_at, last_at, last_network) "
      "VALUES (?, ?, ?, 'a', 0, 0, '')",
      "INSERT INTO acknowledgements (items_accepted, unit, host, range_begin, range_end, "
      "digest, at) VALUES (?1, ?2 / 3, 0, 0, 1, ?3, 0)"};
  for (const auto* const directory : {&first, &second}) {
    open_store(directory->path()).reset();
    sides.push_back(must(
        Database::open((*directory / store_file).string(), Database::Create::no, Database::Access::write)));
    must(sides.back()->begin());
  }
  for (std::int64_t row = 0; row < 3000; ++row)
    for (const char* const text : texts) {
      const bool differs = random.uniform() < other;
      for (auto& side : sides) {
        if (random.uniform() >= present && (differs || &side == &sides.front())) continue;
        Query query = side->query(text);
        const auto value = static_cast<std::int64_t>(differs ? random.next() % 5 : 0);
        const std::string name = std::to_string(row);
        if (text == texts[0])
          must(query.add_bytes(std::to_string(value)).add(row).run());
        else if (text == texts[1])
          must(query.add(static_cast<double>(value)).add(row).add(row).run());
        else if (text == texts[2])
          must(query.add(value).add(std::string_view(name)).add(std::string_view(name)).run());
        else
          must(query.add(value).add(row).add(std::string_view(name)).run());
      }
    }
  for (auto& side : sides) must(side->commit());
  const MoveReport report = must(copy_tables(*sides[0], *sides[1], nothing));
  for (const WholeTable& table : all_tables())
    CHECK(must(sum_of(*sides[0], table, [] {})) == must(sum_of(*sides[1], table, [] {})));
  const MoveReport again = must(copy_tables(*sides[0], *sides[1], nothing));
  CHECK(again.rows == report.rows);
  CHECK(again.there == again.rows);
}

TEST_CASE("nothing is moved over rows in use, from under a server, or from what is no project") {
  if (no_postgres()) return;
  const ToMove project;
  const auto refused = [&](const std::string& from, const std::string& to) {
    const auto moved = project.move(from, to);
    return moved.ok() ? "it was moved" : moved.error().message;
  };
  CHECK_THAT(refused(store_file, project.url), Contains("is not there"));
  {
    const auto store = must(project.open(store_file));
    CHECK_THAT(refused(store_file, project.url), Contains("another gleaner-server"));
  }
  CHECK_THAT(refused(store_file, project.url), Contains("has no project in it"));
  {
    const auto store = must(project.open(store_file));
    in_transaction(*store, [&] { must(store->set_value("project", "p")); });
  }
  CHECK_THAT(refused(store_file, store_file), Contains("there already"));
  CHECK_THAT(refused(store_file, "postgresql:///nowhere?host=/nonexistent"), Contains("nowhere"));
  {
    const auto store = must(project.open(project.url));
    in_transaction(*store, [&] { must(store->set_value("project", "q")); });
    CHECK_THAT(refused(store_file, project.url), Contains("a server uses it"));
  }
  CHECK_THAT(refused(store_file, project.url), Contains("rows of another project"));
  {
    const auto store = must(project.open(project.url));
    in_transaction(*store, [&] { must(store->set_value("project", "p")); });
  }
  CHECK_THAT(refused(store_file, project.url), Contains("in use"));
  CHECK(must(must(project.open(store_file))->get_value("project")) == "p");  // it is served as before
  // Rows that were lost, as the note says, are not moved as if nothing had been.
  must(write_generation_note(io::real_files(), project.directory.path(), {100, 1, 1, {}}));
  CHECK_THAT(refused(store_file, project.url), Contains("is older than it was"));
}
