// Every earlier schema opens and keeps its rows; a newer one is refused; a step that fails leaves the schema
// before it.
#include "server/storage/migrations.h"

#include "tests/catch.h"
#include "tests/unit/storage/old_store.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

TEST_CASE("migrations are numbered 1, 2, 3 ...") {
  int expected = 1;
  for (const Migration& step : migrations()) CHECK(step.version == expected++);
}

TEST_CASE("every earlier schema is taken forward with its rows") {
  ON_EVERY_ENGINE;
  const int version = GENERATE(range(1, static_cast<int>(migrations().size()) + 1));
  INFO("from schema " << version);
  const TemporaryDirectory directory;
  make_old_store(directory.path(), version);
  auto store = open_store(directory.path(), OpenCheck::quick_check);
  for (int opened = 0; opened < 2; ++opened) {
    CHECK(must(store->get_value("project")) == "abc");
    CHECK(must(store->hosts()).front().mflops == 12.5);
    CHECK(must(store->hosts()).front().code == "default");
    CHECK(must(store->hosts()).front().on_hold.empty());
    CHECK(must(store->hosts()).front().relay == HostId{});
    CHECK(must(store->hosts()).front().children == 0);
    CHECK(must(store->host_units(HostId{1}, 9)).front().unit.id == UnitId{17});
    CHECK(must(store->codes()).empty());
    CHECK(must(store->tokens()).empty());
    CHECK(must(store->acts(0, 9)).empty());
    CHECK(must(store->refusals()).empty());
    CHECK(must(store->bans()).empty());
    CHECK(must(store->days(9)).empty());
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
  make_old_store(directory.path(), 17);
  must(connect(directory.path())->execute_schema(R"(
INSERT INTO codes (name, secret_digest, hosts_max, own, tags, made_at, expires_at, withdrawn_at, children) VALUES
  ('default', x'01', 0, 2, '[]', 1, 0, 0, 0), ('lab', x'02', 0, 1, '[]', 1, 0, 0, 0), ('web', x'03', 0, 0, '[]', 1, 0, 0, 0);
)"));
  const auto store = open_store(directory.path());
  const auto codes = must(store->codes());
  REQUIRE(codes.size() == 3);
  for (const CodeRow& code : codes) CHECK(code.own == (code.name == "lab"));
  CHECK(must(store->hosts()).front().own);
}

TEST_CASE("a newer schema is refused and left as it is") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  make_old_store(directory.path(), newest());
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  steps.push_back({newest() + 1, "from the future", "CREATE TABLE future (x INTEGER)"});
  {
    const auto database = connect(directory.path());
    must(migrate(*database, steps));
    CHECK(must(database->schema_version()) == newest() + 1);
  }
  const auto store = storage::open_store(EngineUnderTest::url(directory.path()), directory.path(),
                                         {OpenCheck::quick_check, Loss::refused, {}, {}});
  REQUIRE(!store.ok());
  CHECK(store.error().kind == ErrorKind::invalid);
  CHECK_THAT(store.error().message, Contains("newer gleaner-server") &&
                                        Contains("install the newer program") &&
                                        Contains(std::to_string(newest() + 1)));
  const auto database = connect(directory.path());
  CHECK(must(database->schema_version()) == newest() + 1);
}

TEST_CASE("a step that fails leaves the schema before it") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  make_old_store(directory.path(), newest());
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  steps.push_back(
      {newest() + 1, "good", "CREATE TABLE good (x INTEGER); UPDATE named_values SET value = 'good'"});
  steps.push_back(
      {newest() + 2, "bad", "UPDATE named_values SET value = 'bad'; CREATE TABLE hosts (x INTEGER)"});
  const auto database = connect(directory.path());
  const Status done = migrate(*database, steps);
  REQUIRE(!done.ok());
  CHECK_THAT(done.error().message, Contains("migrating the store to schema " + std::to_string(newest() + 2)));
  CHECK(must(database->schema_version()) == newest() + 1);
  Query query = database->query("SELECT value FROM named_values");
  REQUIRE(must(query.step()));
  std::string value;
  query.take(value);
  CHECK(value == "good");
}
