#include "client/platform/interpreters.h"

#include <unistd.h>

#include <fstream>
#include <thread>

#include "client/platform/sandbox.h"
#include "shared/base/capability.h"
#include "tests/catch.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;

// Starts a shell command in place of the script, and counts.
class Scripted final : public host::Launcher {
 public:
  explicit Scripted(std::string first) : command(std::move(first)) {}
  Result<std::unique_ptr<io::Process>> start(const host::KernelLaunch& launch) override {
    ++starts;
    CHECK(io::real_files().exists(launch.program));
    return io::real_processes().start({{"/bin/sh", "-c", command}, {{"PATH", "/usr/bin:/bin"}}, {}, {}});
  }
  std::string describe() const override { return "none"; }
  std::string refusal() const override { return words; }
  std::string command, words;
  int starts = 0;
};

struct ProbedSystem {
  io::Path root =
      std::filesystem::temp_directory_path() / ("gleaner-interpreters-" + std::to_string(::getpid()));
  ProbedSystem() { std::filesystem::create_directories(root / "system/usr/lib/python3/dist-packages"); }
  ~ProbedSystem() { std::filesystem::remove_all(root); }
};

void let_answer(Interpreters& interpreters) {
  interpreters.wait(system_clock(), 20s);
}

TEST_CASE("This computer's Python answers with its version, as a kernel would find it") {
  if (!std::filesystem::exists("/usr/bin/python3")) return;
  const ProbedSystem place;
  const auto launcher = make_process_launcher(make_plain_sandbox(Priority::normal), io::real_processes());
  Interpreters interpreters(*launcher, io::real_files(), place.root / "probe", 9);
  CHECK(interpreters.capabilities().empty());
  let_answer(interpreters);
  CHECK(is_met("python>=3.6", interpreters.capabilities()));
  CHECK_FALSE(is_met("python>=4", interpreters.capabilities()));
}

TEST_CASE("Only capabilities are taken from what the script says, sorted and once") {
  const ProbedSystem place;
  Scripted launcher(
      "echo python 3.9; echo numpy; echo /home/somebody; echo numpy; echo 'glibc 2.36'; echo more than a "
      "word");
  Interpreters interpreters(launcher, io::real_files(), place.root / "probe", 9);
  let_answer(interpreters);
  CHECK(interpreters.capabilities() == std::vector<std::string>{"glibc 2.36", "numpy", "python 3.9"});
}

TEST_CASE("The script runs again when the interpreter's files change, and only then") {
  const ProbedSystem place;
  Scripted launcher("echo python 3.9");
  Interpreters interpreters(launcher, io::real_files(), place.root / "probe", 9, place.root / "system");
  let_answer(interpreters);
  const SteadyTime later = system_clock().steady() + 24h;
  CHECK_FALSE(interpreters.look(later));
  CHECK(launcher.starts == 1);
  launcher.command = "echo python 3.9; echo numpy 2.1";
  std::filesystem::create_directories(place.root / "system/usr/bin");  // an interpreter is installed
  std::ofstream(place.root / "system/usr/bin/python3") << "";
  CHECK_FALSE(interpreters.look(later + Interpreters::stamp_interval - 1s));
  CHECK(launcher.starts == 1);
  interpreters.look(later + Interpreters::stamp_interval);
  let_answer(interpreters);
  CHECK(launcher.starts == 2);
  CHECK(is_met("numpy>=2", interpreters.capabilities()));
  launcher.command = "echo python 3.9";
  std::filesystem::last_write_time(
      place.root / "system/usr/lib/python3/dist-packages",
      std::filesystem::file_time_type::clock::now() + 1h);  // a package is removed
  interpreters.look(later + 2 * Interpreters::stamp_interval);
  let_answer(interpreters);
  CHECK(launcher.starts == 3);
  CHECK_FALSE(is_met("numpy", interpreters.capabilities()));
}

TEST_CASE("A script that fails or hangs leaves no capabilities, and runs again after a pause") {
  const ProbedSystem place;
  const std::string command = GENERATE("echo python 3.9; exit 1", "echo python 3.9; exec sleep 1000");
  Scripted launcher(command);
  Interpreters interpreters(launcher, io::real_files(), place.root / "probe", 9);
  SteadyTime now = system_clock().steady();
  interpreters.look(now);
  if (command.ends_with("exit 1")) std::this_thread::sleep_for(200ms);
  now += Interpreters::patience;
  interpreters.look(now);
  CHECK(interpreters.capabilities().empty());
  now += Interpreters::pause - 1s;
  interpreters.look(now);
  CHECK(launcher.starts == 1);
  launcher.command = "echo python 3.9";
  interpreters.look(now + 1s);
  CHECK(launcher.starts == 2);
  let_answer(interpreters);
  CHECK(interpreters.capabilities() == std::vector<std::string>{"python 3.9"});
}

TEST_CASE("Without a sandbox nothing is started, and nothing is known") {
  const ProbedSystem place;
  Scripted launcher("echo python 3.9");
  launcher.words = "no sandbox";
  Interpreters interpreters(launcher, io::real_files(), place.root / "probe", 9);
  let_answer(interpreters);
  CHECK(launcher.starts == 0);
  CHECK(interpreters.capabilities().empty());
}

}  // namespace
}  // namespace gleaner::platform
