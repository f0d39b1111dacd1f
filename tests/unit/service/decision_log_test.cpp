// The file of the decision log: what has happened, in order, up to its size.
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

void happen(DecisionLog& log, const std::string& line) {
  log.line(line);
  log.want_written();
  log.settle();
}

struct Place {
  gleaner::testing::TemporaryDirectory directory;
  io::Path path = directory.path() / "deep" / "log.jsonl";
  io::Path former = directory.path() / "deep" / "log-former.jsonl";
};

}  // namespace

TEST_CASE("lines are written once they have happened and are wanted") {
  const Place place;
  DecisionLog log(io::real_files(), place.path, 1000);
  log.line("one");
  log.want_written();
  CHECK(text(place.path).empty());
  log.settle();
  CHECK(text(place.path) == "one\n");
  log.line("two");
  log.settle();
  CHECK(text(place.path) == "one\n");  // a line is no piece's worth
  log.line("never settled");
  CHECK(text(place.path) == "one\n");
}

TEST_CASE("many lines are written without being wanted") {
  const Place place;
  DecisionLog log(io::real_files(), place.path, 1 << 20);
  for (int i = 0; i < 1000; ++i) {
    log.line(std::string(99, 'x'));
    log.settle();
  }
  CHECK(text(place.path).size() >= 65'536);
  CHECK(text(place.path).size() % 100 == 0);
}

TEST_CASE("a start goes on with a log that is half empty, and sets a fuller one aside") {
  const Place place;
  for (const std::string line : {"12345678", "abcdefgh", "ijklmnop", "qrstuvwx"}) {
    DecisionLog log(io::real_files(), place.path, 35);
    happen(log, line);
  }
  CHECK(text(place.former) == "12345678\nabcdefgh\n");
  CHECK(text(place.path) == "ijklmnop\nqrstuvwx\n");
  DecisionLog again(io::real_files(), place.path, 35);
  happen(again, "new");
  CHECK(text(place.former) == "ijklmnop\nqrstuvwx\n");  // of the latest starts only
  CHECK(text(place.path) == "new\n");
}

TEST_CASE("what cannot be written is left out") {
  const Place place;
  REQUIRE(io::real_files().write(place.directory.path() / "deep", "", io::Mode::normal).ok());
  DecisionLog log(io::real_files(), place.path, 1000);
  happen(log, "nowhere to go");
  CHECK(text(place.directory.path() / "deep").empty());
  CHECK_FALSE(log.has_room(0));
}

TEST_CASE("a log that a full disk interrupted is not gone on with: what it tells has no holes") {
  const Place place;
  io::FaultyFiles files(io::real_files());
  bool full = false;
  files.before_change = [&](std::string_view operation, const io::Path&) -> Status {
    if (full && operation == "write_at") return Error{ErrorKind::io, "no space left on device"};
    return {};
  };
  DecisionLog log(files, place.path, 1000);
  happen(log, "one");
  full = true;
  happen(log, "two");
  full = false;
  happen(log, "three");
  CHECK(text(place.path) == "one\n");
}

TEST_CASE("whoever asks is told that there is no room for a line, and for none after it") {
  const Place place;
  DecisionLog log(io::real_files(), place.path, 100);
  happen(log, std::string(69, 'x'));
  CHECK(log.has_room(30));
  log.line(std::string(19, 'y'));
  CHECK(log.has_room(10));
  CHECK_FALSE(log.has_room(11));
  CHECK_FALSE(log.has_room(0));
  happen(log, "never");
  CHECK(text(place.path) == std::string(69, 'x') + "\n" + std::string(19, 'y') + "\n");
}
