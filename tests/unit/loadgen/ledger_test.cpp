// The ledger and the file of hosts: what is written, what is read again, and what is refused.
#include "tools/loadgen/ledger.h"

#include <unistd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tools/loadgen/hosts_file.h"

using namespace gleaner;
using namespace gleaner::loadgen;

namespace {

struct Directory {
  Directory()
      : path(std::filesystem::temp_directory_path() / ("gleaner-loadgen-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

const std::string project(64, 'a');

}  // namespace

TEST_CASE("a ledger has a line for every result, and counts them") {
  const Directory directory;
  auto ledger = Ledger::create(directory.path / "ledger", project);
  REQUIRE(ledger.ok());
  ledger->add(Outcome::accepted, UnitId{7}, HostId{3}, Range{10, 12}, "d1");
  ledger->add(Outcome::refused, UnitId{8}, HostId{3}, Range{12, 13}, "d2");
  ledger->add(Outcome::accepted, UnitId{9}, HostId{4}, Range{13, 14}, "d3");
  CHECK(ledger->count(Outcome::accepted) == 2);
  CHECK(ledger->count(Outcome::refused) == 1);
  CHECK(ledger->count(Outcome::duplicate) == 0);
  REQUIRE(ledger->close().ok());
  const auto text = io::real_files().read(directory.path / "ledger", 1 << 20);
  REQUIRE(text.ok());
  CHECK(*text == "gleaner-ledger 1 " + project +
                     "\naccepted 7 3 10 12 d1\nrefused 8 3 12 13 d2\naccepted 9 4 13 14 d3\n");
}

TEST_CASE("a ledger that cannot be written says so") {
  CHECK(Ledger::create("/nowhere/at/all/ledger", project).error().kind == ErrorKind::io);
  auto full = Ledger::create("/dev/full", project);
  REQUIRE(full.ok());
  for (int i = 0; i < 10'000; ++i) full->add(Outcome::accepted, UnitId{1}, HostId{1}, Range{0, 1}, "digest");
  CHECK(!full->close().ok());
}

TEST_CASE("without a file it only counts") {
  Ledger ledger;
  ledger.add(Outcome::unanswered, UnitId{1}, HostId{1}, Range{0, 1}, "d");
  CHECK(ledger.count(Outcome::unanswered) == 1);
  CHECK(ledger.close().ok());
}

TEST_CASE("hosts come back from their file as they were, as many as are wanted") {
  const Directory directory;
  const auto file = directory.path / "hosts";
  const std::vector<EnrolledHost> hosts{{HostId{1}, "token-one"},
                                        {HostId{25}, "token-two"},
                                        {HostId{26}, "token-three", "a key\nof two lines"}};
  REQUIRE(write_hosts(io::real_files(), file, project, hosts).ok());
  CHECK(read_hosts(io::real_files(), file, project, 10).value() == hosts);
  CHECK(read_hosts(io::real_files(), file, project, 1).value().size() == 1);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
}

TEST_CASE("a file of other hosts, or of something else, is refused with its line") {
  const Directory directory;
  const auto file = directory.path / "hosts";
  auto& files = io::real_files();
  REQUIRE(write_hosts(files, file, project, {{HostId{1}, "token"}}).ok());
  CHECK(read_hosts(files, file, std::string(64, 'b'), 1).error().message.find("hosts:1: ") !=
        std::string::npos);
  for (const std::string line :
       {"1", "one token", "1 ", "1  ", "1 token ", "1 token a+b", "1 token key more"}) {
    CAPTURE(line);
    REQUIRE(
        files.write(file, "gleaner-hosts 1 " + project + "\n2 fine\n" + line + "\n", io::Mode::secret).ok());
    const auto read = read_hosts(files, file, project, 10);
    if (line == "1  ") continue;  // a token of one space: the server will say that it knows no such host
    REQUIRE(!read.ok());
    CHECK(read.error().message.find("hosts:3: ") != std::string::npos);
  }
}
