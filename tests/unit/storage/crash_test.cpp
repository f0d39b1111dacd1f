// A server that is killed at any moment: what was committed is there, what was not has left no trace.
#include <time.h>

#include <map>

#include "server/storage/directory_lock.h"
#include "server/storage/file_blobs.h"
#include "server/storage/sqlite.h"
#include "shared/crypto/keys.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr int kills = 36;

void pause_microseconds(std::int64_t microseconds) {
  const timespec time{microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  ::nanosleep(&time, nullptr);
}

// One transaction of the child: a commit of three items and a new unit, numbered `count`.
Status work_cycle(Store& store, const Grid& grid, std::int64_t count) {
  TRY(store.begin());
  const Range range{3 * count, 3 * count + 3};
  TRY_ASSIGN(const UnitId unit, store.next_unit());
  policy::Unit row = simple_unit(grid, unit, range);
  TRY(store.put_unit(grid.problem, 0, row));
  SegmentRow delivered = simple_segment(grid, range);
  delivered.unit = unit;
  TRY_ASSIGN(const SegmentId segment, store.add_segment(delivered, std::string_view()));
  // One item too many, which the next cycle takes back: rows are cut as well as added.
  TRY(store.accept(grid.problem, 0, {range.begin, range.end + 1}, segment));
  TRY(store.add_decision({grid.problem, 0, {}}));
  TRY(store.set_value("count", std::to_string(count + 1)));
  return store.commit();
}

std::int64_t count_of(Store& store) {
  const auto text = must(store.get_value("count"));
  return text ? std::stoll(*text) : 0;
}

// Everything that `count` cycles have written, and nothing more.
void check_contents(Store& store, const Grid& grid, std::int64_t count) {
  const auto accepted = must(store.accepted_segments(grid.problem, 0));
  REQUIRE(accepted.size() == static_cast<std::size_t>(count));
  const auto units = must(store.open_units(grid.problem, 0));
  REQUIRE(units.size() == static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& row = accepted[static_cast<std::size_t>(i)];
    REQUIRE(row.range == Range{3 * i, 3 * i + (i == count - 1 ? 4 : 3)});
    REQUIRE(row.segment.range == Range{3 * i, 3 * i + 3});
    const auto& unit = units[static_cast<std::size_t>(i)];
    REQUIRE(must(
        store.acknowledgement(unit.id, grid.hosts[0], unit.range, simple_segment(grid, unit.range).digest)));
  }
  REQUIRE(must(store.decisions(grid.problem, 1'000'000)).size() == static_cast<std::size_t>(count));
}

void check_integrity(const io::Path& path) {
  const auto database = must(Database::open(path.string(), Database::Create::no));
  Query check = database->query("PRAGMA integrity_check");
  REQUIRE(must(check.step()));
  std::string answer;
  check.take(answer);
  CHECK(answer == "ok");
  Query keys = database->query("PRAGMA foreign_key_check");
  CHECK(!must(keys.step()));
}

void work_until_killed(const io::Path& directory, const Grid& grid, const Child::Report& report) {
  auto store = open_sqlite_store(directory, OpenCheck::none);
  if (!store.ok()) return report.line(store.error().message);
  const auto text = (*store)->get_value("count");
  if (!text.ok()) return report.line(text.error().message);
  for (std::int64_t count = *text ? std::stoll(**text) : 0;; ++count) {
    const Status done = work_cycle(**store, grid, count);
    if (!done.ok()) return report.line(done.error().message);
    report.line(std::to_string(count + 1));
  }
}

}  // namespace

TEST_CASE("a server killed in mid-transaction loses nothing that was committed") {
  const std::uint64_t seed = 99;
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory directory;
  Grid grid;
  {
    auto store = open_store(directory.path());
    in_transaction(*store, [&] { grid = add_grid(*store); });
  }
  for (int round = 0; round < kills; ++round) {
    std::int64_t reported = -1;
    {
      Child child([&](const Child::Report& report) { work_until_killed(directory.path(), grid, report); });
      // Not to synchronise: where it is hit is what varies. Sometimes it has not even opened its store.
      const auto reports = random.below(12);
      for (std::uint64_t i = 0; i < reports; ++i) reported = std::stoll(child.line().value());
      pause_microseconds(random.between(0, reports == 0 ? 40'000 : 4'000));
      child.kill();
      while (const auto line = child.line()) reported = std::stoll(*line);
    }
    check_integrity(directory / "store.sqlite");
    const auto store = open_store(directory.path(), OpenCheck::quick_check);
    const std::int64_t count = count_of(*store);
    CHECK(count >= reported);
    if (reported >= 0) CHECK(count <= reported + 1);
    check_contents(*store, grid, count);
  }
}

TEST_CASE("a server killed while it makes its store leaves none, or a whole one") {
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 15; ++round) {
    const TemporaryDirectory directory;
    {
      Child child([&](const Child::Report& report) {
        report.line("started");
        const auto store = open_sqlite_store(directory / "state", OpenCheck::none);
        if (!store.ok()) report.line(store.error().message);
      });
      CHECK(child.line() == "started");
      pause_microseconds(random.between(0, 60'000));
      child.kill();
      CHECK(!child.line());
    }
    auto store = open_store(directory / "state", OpenCheck::quick_check);
    in_transaction(*store, [&] { (void)add_grid(*store); });
    CHECK(!std::filesystem::exists(directory / "state/store.sqlite.new"));
  }
}

TEST_CASE("a server killed while it stores blobs leaves whole ones only") {
  const std::uint64_t seed = 17;
  INFO("seed " << seed);
  Random random(seed);
  const TemporaryDirectory directory;
  io::Files& files = io::real_files();
  std::vector<std::string> reported;
  for (int round = 0; round < 12; ++round) {
    {
      Child child([&](const Child::Report& report) {
        FileBlobs blobs(files, directory.path());
        if (!blobs.open().ok()) return;
        for (int i = 0;; ++i) {
          const Bytes bytes(static_cast<std::size_t>(1 + 37 * (i % 200)), static_cast<char>('a' + round));
          if (const auto digest = blobs.put(bytes); digest.ok()) report.line(*digest);
          const std::string name = crypto::sha256_hex("x" + bytes);
          if (!blobs.append(name, 0, "x", 1 << 20).ok() || !blobs.append(name, 1, bytes, 1 << 20).ok())
            continue;
          if (blobs.finish(name).ok()) report.line(name);
        }
      });
      const auto reports = random.below(10);
      for (std::uint64_t i = 0; i < reports; ++i) reported.push_back(child.line().value());
      pause_microseconds(random.between(0, 3'000));
      child.kill();
      while (const auto line = child.line()) reported.push_back(*line);
    }
    FileBlobs blobs(files, directory.path());
    must(blobs.open());
    for (const auto& digest : reported) REQUIRE(blobs.has(digest));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory / "blobs")) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || io::is_leftover(name)) continue;
      REQUIRE(crypto::sha256_hex(must(files.read(entry.path(), 1 << 20))) == name);
    }
  }
  CHECK(!reported.empty());
}

TEST_CASE("a directory is free when its server has ended, though a child of it is still there") {
  const TemporaryDirectory directory;
  auto lock = must(DirectoryLock::take(directory.path()));
  CHECK(DirectoryLock::take(directory.path()).error().kind == ErrorKind::conflict);
  Child child([](const Child::Report& report) {
    report.line("here");
    pause_microseconds(60'000'000);
  });
  REQUIRE(child.line() == "here");
  lock.reset();
  CHECK(DirectoryLock::take(directory.path()).ok());
}
