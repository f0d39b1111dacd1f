#include <unistd.h>

#include <fstream>

#include "client/platform/machine_facts.h"
#include "client/program/state_lock.h"
#include "tests/catch.h"

namespace gleaner::platform {
namespace {

struct Roots {
  io::Path root = std::filesystem::temp_directory_path() / ("gleaner-machine-" + std::to_string(::getpid()));
  Roots() {
    std::filesystem::create_directories(root / "proc/42/task/42");
    std::filesystem::create_directories(root / "proc/42/task/43");
    std::filesystem::create_directories(root / "etc");
  }
  ~Roots() { std::filesystem::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  [[nodiscard]] std::unique_ptr<host::Machine> machine() const {
    return make_machine({root / "proc", root / "etc"});
  }
};

TEST_CASE("The machine's digest differs by machine and by project, and never shows the id") {
  const Roots roots;
  roots.put("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  const std::string one = roots.machine()->machine_digest("project a");
  CHECK(one.size() == 64);
  CHECK(one != roots.machine()->machine_digest("project b"));
  CHECK(one == roots.machine()->machine_digest("project a"));
  roots.put("etc/machine-id", "ffffffffffffffffffffffffffffffff\n");
  CHECK(one != roots.machine()->machine_digest("project a"));
  std::filesystem::remove(roots.root / "etc/machine-id");
  CHECK(roots.machine()->machine_digest("project a").size() == 64);  // by the host's name
}

TEST_CASE("The load is read, and its absence is no load") {
  const Roots roots;
  CHECK(roots.machine()->runnable_jobs() == 0);
  roots.put("proc/loadavg", "2.50 1.00 0.50 3/200 1234\n");
  CHECK(roots.machine()->runnable_jobs() == 2.5);
  roots.put("proc/loadavg", "garbage");
  CHECK(roots.machine()->runnable_jobs() == 0);
}

TEST_CASE("A process sleeps only if all its threads do; its name may contain anything") {
  const Roots roots;
  roots.put("proc/42/stat", "42 (evil) R (name) S 1 42 42 0\n");
  roots.put("proc/42/task/42/children", "");
  roots.put("proc/42/task/42/stat", "42 (evil) R (name) S 1 42 42 0\n");
  roots.put("proc/42/task/43/stat", "43 (worker) S 1 42 42 0\n");
  CHECK(roots.machine()->use(42).asleep);
  CHECK(roots.machine()->use(42).threads == 2);
  roots.put("proc/42/task/43/stat", "43 (worker) R 1 42 42 0\n");
  CHECK_FALSE(roots.machine()->use(42).asleep);
  roots.put("proc/42/task/43/stat", "43 (worker) T 1 42 42 0\n");
  CHECK_FALSE(roots.machine()->use(42).asleep);
  CHECK_FALSE(roots.machine()->use(77).asleep);
}

TEST_CASE("A kernel is all that descends from what was started") {
  const Roots roots;
  roots.put("proc/42/stat", "42 (bwrap) S 1 42 42 0\n");
  roots.put("proc/42/statm", "100 10 5 1 0 1 0\n");
  roots.put("proc/42/task/42/stat", "42 (bwrap) S 1 42 42 0\n");
  roots.put("proc/42/task/42/children", "43 ");
  roots.put("proc/43/stat", "43 (kernel) R 42 42 42 0\n");
  roots.put("proc/43/statm", "100 50 20 1 0 1 0\n");
  roots.put("proc/43/task/43/stat", "43 (kernel) S 42 42 42 0\n");
  roots.put("proc/43/task/43/children", "");
  roots.put("proc/43/task/44/stat", "44 (thread) R 42 42 42 0\n");
  const io::TreeUse use = roots.machine()->use(42);
  CHECK(use.processes == 2);
  CHECK(use.threads == 3);
  CHECK(use.memory_bytes == 35 * ::sysconf(_SC_PAGESIZE));
  CHECK_FALSE(use.asleep);
}

TEST_CASE("Disk use counts files and bytes, not through links, and stops counting") {
  const Roots roots;
  std::filesystem::create_directories(roots.root / "slot/deep");
  roots.put("slot/a", std::string(1000, 'a'));
  roots.put("slot/deep/b", std::string(500, 'b'));
  std::filesystem::create_symlink("/", roots.root / "slot/link");
  const auto usage = roots.machine()->usage(roots.root / "slot", 100);
  CHECK(usage.bytes == 1500);
  CHECK(usage.files == 4);
  CHECK(roots.machine()->usage(roots.root / "slot", 2).files == 2);
  CHECK(roots.machine()->usage(roots.root / "absent", 2).files == 0);
}

TEST_CASE("One daemon a state directory") {
  const Roots roots;
  const io::Path path = roots.root / "lock";
  {
    const auto first = program::StateLock::take(path);
    REQUIRE(first.ok());
    const auto second = program::StateLock::take(path);
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().kind == ErrorKind::conflict);
  }
  CHECK(program::StateLock::take(path).ok());
}

}  // namespace
}  // namespace gleaner::platform
