#include "client/platform/outside_source.h"

#include <csignal>
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;

struct Program {
  testing::TemporaryDirectory directory;
  io::Path path = directory.path() / "signal";
  [[nodiscard]] Result<std::string> says(const std::string& script, Duration patience = 10s) const {
    REQUIRE(io::real_files().write(path, "#!/bin/sh\n" + script, io::Mode::normal).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return make_outside_source(io::real_processes(), patience)->ask(path.string());
  }
};

TEST_CASE("A program's answer is what it prints, and its failure is told") {
  const Program program;
  const auto said = program.says("cat; echo no power is dear\n");
  REQUIRE(said.ok());
  CHECK(*said == "no power is dear\n");
  CHECK(program.says("echo yes; exit 3").error().message == "it exited with status 3");
  CHECK(program.says("echo yes; kill -9 $$").error().message.find("signal 9") != std::string::npos);
  CHECK(program.says("yes").error().message == "it said more than 4096 bytes");
  const auto nobody = make_outside_source(io::real_processes())->ask("/nowhere/signal");
  CHECK_FALSE(nobody.ok());
}

TEST_CASE("A program that hangs is killed with all that it started, and none of that is waited for") {
  const Program program;
  const auto before = std::chrono::steady_clock::now();
  const auto late = program.says(
      "echo yes; sleep 1000 & echo $! >" + (program.directory.path() / "pid").string() + "; wait", 300ms);
  CHECK(late.error().message == "it did not answer within 1 s");
  const int child = std::stoi(*io::real_files().read(program.directory.path() / "pid", 100));
  // Whoever inherits it may be slow to bury it.
  const auto ended = [child] {
    std::ifstream file("/proc/" + std::to_string(child) + "/stat");
    std::string number, name, state;
    return !(file >> number >> name >> state) || state == "Z";
  };
  bool gone = false;
  for (int i = 0; i < 400 && !gone; ++i) {
    gone = ended();
    std::this_thread::sleep_for(10ms);
  }
  CHECK(gone);
  const auto left = program.says("echo yes; sleep 1000 &");
  REQUIRE(left.ok());
  CHECK(*left == "yes\n");
  CHECK(std::chrono::steady_clock::now() - before < 9s);
}

}  // namespace
}  // namespace gleaner::platform
