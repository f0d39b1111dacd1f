// Every earlier schema since the first step opens and keeps its rows; any other one is refused; a step that
// fails leaves the schema before it.
#include "server/storage/migrations.h"

#include "server/storage/inspect_store.h"
#include "tests/catch.h"
#include "tests/unit/storage/old_store.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

TEST_CASE("migrations have rising numbers") {
  int before = 0;
  for (const Migration& step : migrations()) {
    CHECK(step.version > before);
    before = step.version;
  }
}

TEST_CASE("every earlier schema is taken forward with its rows") {
  ON_EVERY_ENGINE;
  const int steps = GENERATE(range(1, newest() + 1));
  INFO("from schema " << schema_after(steps));
  const TemporaryDirectory directory;
  make_old_store(directory.path(), steps);
  auto store = open_store(directory.path(), OpenCheck::quick_check);
  for (int opened = 0; opened < 2; ++opened) {
    CHECK(must(store->get_value("project")) == "abc");
    CHECK(must(store->hosts()).front().mflops == 12.5);
    CHECK(must(store->hosts()).front().code == "default");
    CHECK(must(store->hosts()).front().on_hold.empty());
    CHECK(must(store->hosts()).front().relay == HostId{});
    CHECK(must(store->hosts()).front().children == 0);
    CHECK(must(store->host_units(HostId{1}, 9)).front().unit.id == UnitId{17});
    CHECK(must(store->codes())[1].tags == std::vector<std::string>{"fast"});
    CHECK(must(store->codes())[1].made_by.empty());
    CHECK(must(store->tokens()).front().name == "anna");
    CHECK(must(store->tokens()).front().made_by.empty());
    CHECK(must(store->bans()).front().subject == "192.0.2.1");
    CHECK(must(store->days(9)).front().joules == 7.5);
    CHECK(must(store->segment_bytes(SegmentId{6})) == "\xC0\xFF\xEE");
    CHECK(must(store->applications()).front().platforms == std::vector<std::string>{"x86_64-linux"});
    CHECK(must(store->problems()).front().straggler == policy::Straggler::split);
    CHECK(must(store->stage(ProblemId{1}, 0)).value().set_aside == std::vector{Range{3, 4}});
    const auto unit = must(store->unit(UnitId{17})).value().unit;
    CHECK(unit.range == Range{0, 50});
    CHECK(unit.reason == "why");
    CHECK(unit.handed_end == 0);
    const policy::HostRecord record = must(store->host_records(ProblemId{1}, 0)).front();
    CHECK(record.rate == 1.5);
    CHECK(record.memory == policy::StageMemory{});
    CHECK(record.times.units == 0);
    CHECK(must(store->accepted(ProblemId{1}, 0)).front().segment == SegmentId{5});
    CHECK(must(store->segments_over(ProblemId{1}, 0, {9, 10})).front().digest == "bb");
    const auto answered =
        must(store->acknowledgement(UnitId{17}, HostId{1}, {0, 10}, std::string(64, 'b'))).value();
    CHECK(answered.items_accepted == 8);
    CHECK(to_microseconds(answered.at) == 9);
    CHECK(must(store->decisions(ProblemId{1}, 9)).size() == 1);
    // And it is written to as any other.
    in_transaction(*store, [&] {
      CHECK(must(store->next_unit()) > UnitId{1000});
      policy::Unit changed = unit;
      changed.committed = 20;
      must(store->put_unit(ProblemId{1}, 0, changed));
    });
    CHECK(must(store->open_units(ProblemId{1}, 0)).front().committed == 20);
    store.reset();
    store = open_store(directory.path());
  }
}

TEST_CASE("codes that left to a setting what their hosts are, admit strangers; hosts stay what they are") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  make_old_store(directory.path(), 1);
  const auto store = open_store(directory.path());
  const auto codes = must(store->codes());
  REQUIRE(codes.size() == 3);
  for (const CodeRow& code : codes) CHECK(code.own == (code.name == "lab"));
  CHECK(must(store->hosts()).front().own);
}

TEST_CASE("a newer schema, and one that was never released, are refused and left as they are") {
  ON_EVERY_ENGINE;
  const auto [schema, said] =
      GENERATE(std::pair(schema_after(newest()) + 1, "install the newer program"),
               std::pair(schema_after(1) - 1, "unreleased"), std::pair(1, "unreleased"));
  const TemporaryDirectory directory;
  make_old_store(directory.path(), newest());
  change(directory.path(), "DELETE FROM schema_version; INSERT INTO schema_version VALUES (" +
                               std::to_string(schema) + ", 'not of this program')");
  const std::string url = EngineUnderTest::url(directory.path());
  const auto check_refused = [&, schema = schema, said = said](const auto& result) {
    REQUIRE(!result.ok());
    CHECK(result.error().kind == ErrorKind::invalid);
    CHECK_THAT(result.error().message, Contains("schema " + std::to_string(schema)) && Contains(said));
  };
  check_refused(storage::open_store(url, directory.path(), {OpenCheck::quick_check, Loss::refused, {}, {}}));
  check_refused(inspect_store(url, directory.path()));
  const auto database = connect(directory.path());
  CHECK(must(database->schema_version()) == schema);
  Query query = database->query("SELECT count(*) FROM schema_version");
  REQUIRE(must(query.step()));
  std::int64_t count = 0;
  query.take(count);
  CHECK(count == 1);
}

TEST_CASE("a step that fails leaves the schema before it") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  make_old_store(directory.path(), newest());
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  steps.push_back({schema_after(newest()) + 1, "good",
                   "CREATE TABLE good (x INTEGER); UPDATE named_values SET value = 'good'"});
  steps.push_back({schema_after(newest()) + 2, "bad",
                   "UPDATE named_values SET value = 'bad'; CREATE TABLE hosts (x INTEGER)"});
  const auto database = connect(directory.path());
  const Status done = migrate(*database, steps);
  REQUIRE(!done.ok());
  CHECK_THAT(done.error().message,
             Contains("migrating the store to schema " + std::to_string(schema_after(newest()) + 2)));
  CHECK(must(database->schema_version()) == schema_after(newest()) + 1);
  Query query = database->query("SELECT value FROM named_values");
  REQUIRE(must(query.step()));
  std::string value;
  query.take(value);
  CHECK(value == "good");
}
