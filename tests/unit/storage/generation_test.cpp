// A store that is behind its note is refused; one that is not never is, however it was ended.
#include <filesystem>

#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

io::Files& files() {
  return io::real_files();
}

void note(const Store& store, const io::Path& directory) {
  must(write_generation_note(files(), directory, store.generation()));
}

// A process that stores `count` values one by one and notes after each, killed there: the log has it all.
void run_and_kill(const io::Path& directory, int count) {
  Child child([&](const Child::Report& report) {
    auto store = open_store(directory);
    for (int i = 0; i < count; ++i) {
      in_transaction(*store, [&] {
        must(store->set_value("count", std::to_string(i + 1)));
        (void)must(store->next_unit());
      });
      note(*store, directory);
    }
    report.line("stored");
    while (true) ::pause();
  });
  REQUIRE(child.line() == "stored");
  child.kill();
}

}  // namespace

TEST_CASE("transactions that change nothing do not count, those that are rolled back neither") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  auto store = open_store(directory.path());
  CHECK(store->generation().generation == 0);
  in_transaction(*store, [&] { must(store->set_value("a", "1")); });
  CHECK(store->generation().generation == 1);
  in_transaction(*store, [&] { (void)must(store->get_value("a")); });
  CHECK(store->generation().generation == 1);
  must(store->begin());
  must(store->set_value("a", "2"));
  store->rollback();
  CHECK(store->generation().generation == 1);
  in_transaction(*store, [&] { must(store->set_value("a", "3")); });
  store.reset();
  CHECK(open_store(directory.path())->generation().generation == 2);
}

TEST_CASE("a killed server's store is not behind its note") {
  ON_EVERY_ENGINE;
  const TemporaryDirectory directory;
  (void)EngineUnderTest::url(directory.path());  // made here, not by the first child
  for (int round = 1; round <= 5; ++round) {
    run_and_kill(directory.path(), 7);
    CHECK(must(read_generation_note(files(), directory.path()))->generation == 7 * round);
    CHECK(open_store(directory.path())->generation().generation == 7 * round);
  }
}

TEST_CASE("a log that is removed or cut is noticed and told, and accepted only in words") {
  const TemporaryDirectory directory;
  run_and_kill(directory.path(), 3);
  (void)open_store(directory.path());  // the three are in the main file now
  run_and_kill(directory.path(), 5);
  const io::Path log = directory / "store.sqlite-wal";
  REQUIRE(std::filesystem::file_size(log) > 0);
  const bool cut = GENERATE(false, true);
  if (cut)
    std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  else
    std::filesystem::remove(log);
  for (int i = 0; i < 2; ++i) {  // looking does not make it good
    const auto refused = open_sqlite_store(directory.path(), OpenCheck::quick_check);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::invalid);
    CHECK_THAT(refused.error().message, Contains("older than it was") && Contains("--accept-loss"));
    CHECK_THAT(refused.error().message, Contains(cut ? "the last 1:" : "the last 5:"));
  }
  auto store = must(open_sqlite_store(directory.path(), OpenCheck::quick_check, Loss::accepted));
  CHECK(must(store->get_value("count")) == (cut ? "4" : "3"));
  CHECK(store->generation().generation > 8);
  // What was lost may have been given to somebody.
  must(store->begin());
  CHECK(must(store->next_unit()).value > 1'000'000);
  must(store->commit());
  note(*store, directory.path());
  store.reset();
  CHECK(open_sqlite_store(directory.path(), OpenCheck::quick_check).ok());
}

TEST_CASE("an older copy of the store is noticed") {
  const TemporaryDirectory directory;
  const TemporaryDirectory backup;
  {
    auto store = open_store(directory.path());
    in_transaction(*store, [&] { must(store->set_value("a", "1")); });
    note(*store, directory.path());
  }
  std::filesystem::copy_file(directory / "store.sqlite", backup / "store.sqlite");
  {
    auto store = open_store(directory.path());
    in_transaction(*store, [&] { must(store->set_value("a", "2")); });
    note(*store, directory.path());
  }
  std::filesystem::copy_file(backup / "store.sqlite", directory / "store.sqlite",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(!open_sqlite_store(directory.path(), OpenCheck::none).ok());
  std::filesystem::remove(generation_note_path(directory.path()));  // as in a backup's own directory
  CHECK(open_sqlite_store(directory.path(), OpenCheck::none).ok());
}

TEST_CASE("no bit of the note can be flipped unseen") {
  const TemporaryDirectory directory;
  const GenerationNote written{1234567, 89, 1011, Timestamp{Duration{1'700'000'000'000'000}}};
  must(write_generation_note(files(), directory.path(), written));
  CHECK(must(read_generation_note(files(), directory.path())) == written);
  const io::Path path = generation_note_path(directory.path());
  const Bytes whole = must(files().read(path, 4096));
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    Bytes changed = whole;
    changed[byte] = static_cast<char>(changed[byte] ^ (1 << (byte % 8)));
    must(files().write(path, changed, io::Mode::normal));
    CHECK(!read_generation_note(files(), directory.path()).ok());
    must(files().write(path, whole.substr(0, byte), io::Mode::normal));
    CHECK(!read_generation_note(files(), directory.path()).ok());
  }
}
