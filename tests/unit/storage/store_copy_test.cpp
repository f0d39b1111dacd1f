// A store is copied while it is written to, and what is made of the copy gives no id a second time.
#include "server/storage/store_copy.h"

#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

std::string value_of(Store& store) {
  std::string value;
  in_transaction(store, [&] { value = must(store.get_value("a")).value_or(""); });
  return value;
}

}  // namespace

TEST_CASE("a copy has what was committed, and not what its server is just writing") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory, other;
  auto store = open_store(directory.path());
  in_transaction(*store, [&] { must(store->set_value("a", "committed")); });
  must(store->begin());
  must(store->set_value("a", "under way"));
  const StoreCopy copy =
      must(copy_store(EngineUnderTest::url(directory.path()), directory.path(), other.path()));
  CHECK(copy.at.generation == 1);
  CHECK(copy.blobs.empty());
  must(store->commit());  // it was not held up
  CHECK(value_of(*store) == "under way");
  CHECK(value_of(*must(open_sqlite_store(other.path(), OpenCheck::quick_check))) == "committed");
  const auto again = copy_store(EngineUnderTest::url(directory.path()), directory.path(), other.path());
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::conflict);
}

TEST_CASE(
    "a restored store goes on beyond all that the lost one can have given, and the lost one is refused "
    "beside it") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory lost, restored;
  auto store = open_store(lost.path());
  in_transaction(*store, [&] { must(store->set_value("a", "1")); });
  (void)must(copy_store(EngineUnderTest::url(lost.path()), lost.path(), restored.path()));
  UnitId last;
  for (int i = 0; i < 5000; ++i)
    in_transaction(*store, [&] {
      last = must(store->next_unit());
      must(store->set_value("a", std::to_string(i)));
    });
  const auto generation = store->generation().generation;
  store.reset();
  auto made = must(open_restored_store(restored.path()));
  CHECK(made->generation().generation > generation + 1'000'000'000);
  in_transaction(*made, [&] { CHECK(must(made->next_unit()).value > last.value + 1'000'000'000); });
  must(write_generation_note(io::real_files(), lost.path(), made->generation()));
  const auto refused = storage::open_store(EngineUnderTest::url(lost.path()), lost.path(), {});
  REQUIRE(!refused.ok());
  CHECK_THAT(refused.error().message, Contains("is older than it was"));
}

TEST_CASE("two stores that are restored from one backup share no numbers") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory lost, one, other;
  auto store = open_store(lost.path());
  in_transaction(*store, [&] { must(store->set_value("a", "1")); });
  std::vector<std::int64_t> numbers;
  for (const TemporaryDirectory* const restored : {&one, &other}) {
    (void)must(copy_store(EngineUnderTest::url(lost.path()), lost.path(), restored->path()));
    auto made = must(open_restored_store(restored->path()));
    in_transaction(*made, [&] { numbers.push_back(must(made->next_unit()).value); });
  }
  // By chance they are this near to each other once in fifty thousand times.
  CHECK(std::abs(numbers[0] - numbers[1]) > 10'000'000);
}
