// The log of decisions: what has happened, in order, up to its size.
#include "server/service/core/decision_log.h"

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

std::string text(const io::Path& path) {
  const auto bytes = io::real_files().read(path, 1 << 20);
  return bytes.ok() ? *bytes : std::string();
}

}  // namespace

TEST_CASE("lines are written once they have happened") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "deep" / "log";
  DecisionLog log(path, 1000);
  log.line("one");
  log.flush(io::real_files());
  CHECK(text(path).empty());
  log.settle(io::real_files());
  log.line("never settled");
  log.flush(io::real_files());
  CHECK(text(path) == "one\n");
}

TEST_CASE("a log goes on where another ended, and ends at its size") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "log";
  for (const std::string line : {"12345678", "abcdefgh", "too much"}) {
    DecisionLog log(path, 20);
    log.line(line);
    log.settle(io::real_files());
    log.flush(io::real_files());
  }
  CHECK(text(path) == "12345678\nabcdefgh\n");
}

TEST_CASE("many lines are written without being asked") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "log";
  DecisionLog log(path, 1 << 20);
  for (int i = 0; i < 1000; ++i) {
    log.line(std::string(99, 'x'));
    log.settle(io::real_files());
  }
  CHECK(text(path).size() >= 65'536);
  CHECK(text(path).size() % 100 == 0);
}

TEST_CASE("what cannot be written is left out") {
  const gleaner::testing::TemporaryDirectory directory;
  REQUIRE(io::real_files().write(directory.path() / "file", "", io::Mode::normal).ok());
  DecisionLog log(directory.path() / "file" / "log", 1000);
  log.line("nowhere to go");
  log.settle(io::real_files());
  log.flush(io::real_files());
  CHECK(text(directory.path() / "file").empty());
}

TEST_CASE("a log that a full disk interrupted is not gone on with: what it tells has no holes") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "log";
  io::FaultyFiles files(io::real_files());
  bool full = false;
  files.before_change = [&](std::string_view operation, const io::Path&) -> Status {
    if (full && operation == "write_at") return Error{ErrorKind::io, "no space left on device"};
    return {};
  };
  DecisionLog log(path, 1000);
  const auto write = [&](const std::string& line) {
    log.line(line);
    log.settle(files);
    log.flush(files);
  };
  write("one");
  full = true;
  write("two");
  full = false;
  write("three");
  CHECK(text(path) == "one\n");
}

TEST_CASE("a log that is longer than it may be by now is left as it is") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "log";
  REQUIRE(io::real_files().write(path, "of a time with a larger setting\n", io::Mode::normal).ok());
  DecisionLog log(path, 10);
  log.line("x");
  log.settle(io::real_files());
  log.flush(io::real_files());
  CHECK(text(path) == "of a time with a larger setting\n");
}

TEST_CASE("whoever asks is told that there is no room for a line, and for none after it") {
  const gleaner::testing::TemporaryDirectory directory;
  const io::Path path = directory.path() / "log";
  REQUIRE(io::real_files().write(path, std::string(70, 'x'), io::Mode::normal).ok());
  DecisionLog log(path, 100);
  CHECK(log.has_room(100));  // of the file nobody knows yet
  log.open(io::real_files());
  CHECK(log.has_room(30));
  log.line(std::string(19, 'y'));
  CHECK(log.has_room(10));
  CHECK_FALSE(log.has_room(11));
  CHECK_FALSE(log.has_room(0));
  log.line("never");
  log.settle(io::real_files());
  log.flush(io::real_files());
  CHECK(text(path).find("never") == std::string::npos);
}
