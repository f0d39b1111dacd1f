#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "client/platform/machine_facts.h"
#include "client/platform/state_lock.h"
#include "shared/sandbox/usage.h"
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
    return make_machine({root / "proc", root / "etc", root / "cgroup"});
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

TEST_CASE(
    "Processor time and memory in use are of the whole computer; a file that says neither is told apart") {
  Roots roots;
  CHECK(roots.machine()->processor_time().all == 0);
  CHECK(!roots.machine()->memory_in_use());
  roots.put("proc/stat", "cpu  10 20 5 50 7 1 2 5 0 0\ncpu0 10 20 5 50 7 1 2 5 0 0\n");
  roots.put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 250 kB\n");
  const host::ProcessorTime time = roots.machine()->processor_time();
  CHECK(time.busy == 38);
  CHECK(time.all == 100);
  CHECK(roots.machine()->memory_in_use() == Approx(0.75));
  roots.put("proc/stat", "cpu  10 20\n");
  CHECK(roots.machine()->processor_time().all == 0);
}

TEST_CASE("A process sleeps only if all its threads do; its name may contain anything") {
  const Roots roots;
  roots.put("proc/42/stat", "42 (evil) R (name) S 1 42 42 0\n");
  roots.put("proc/42/task/42/children", "");
  roots.put("proc/42/task/42/stat", "42 (evil) R (name) S 1 42 42 0\n");
  roots.put("proc/42/task/43/stat", "43 (worker) S 1 42 42 0\n");
  CHECK(roots.machine()->use(io::TreeHandle(42)).asleep);
  CHECK(roots.machine()->use(io::TreeHandle(42)).threads == 2);
  roots.put("proc/42/task/43/stat", "43 (worker) R 1 42 42 0\n");
  CHECK_FALSE(roots.machine()->use(io::TreeHandle(42)).asleep);
  roots.put("proc/42/task/43/stat", "43 (worker) T 1 42 42 0\n");
  CHECK_FALSE(roots.machine()->use(io::TreeHandle(42)).asleep);
  CHECK_FALSE(roots.machine()->use(io::TreeHandle(77)).asleep);
}

TEST_CASE("A kernel is all that descends from what was started") {
  const Roots roots;
  roots.put("proc/42/stat", "42 (bwrap) S 1 42 42 0\n");
  roots.put("proc/42/status",
            "Name:\tbwrap\nRssAnon:\t      20 kB\nRssFile:\t 900 kB\nRssShmem:\t       8 kB\n");
  roots.put("proc/42/task/42/stat", "42 (bwrap) S 1 42 42 0\n");
  roots.put("proc/42/task/42/children", "43 ");
  roots.put("proc/43/stat", "43 (kernel) R 42 42 42 0\n");
  roots.put("proc/43/status",
            "Name:\tkernel\nRssAnon:\t     100 kB\nRssShmem:\t    8000 kB\nVmSwap:\t 16 kB\n");
  // Half of what it shares is somebody else's.
  roots.put("proc/43/smaps_rollup", "0-1 ---p 0 00:00 0 [rollup]\nRss:\t 9000 kB\nPss_Shmem:\t    4000 kB\n");
  roots.put("proc/43/task/43/stat", "43 (kernel) S 42 42 42 0\n");
  roots.put("proc/43/task/43/children", "");
  roots.put("proc/43/task/44/stat", "44 (thread) R 42 42 42 0\n");
  const io::TreeUse use = roots.machine()->use(io::TreeHandle(42));
  CHECK(use.processes == 2);
  CHECK(use.threads == 3);
  CHECK(use.memory_bytes == (20 + 8 + 100 + 4000 + 16) << 10);
  CHECK_FALSE(use.asleep);
}

TEST_CASE("Disk use counts files and blocks, not through links, and stops counting") {
  const Roots roots;
  std::filesystem::create_directories(roots.root / "slot/deep");
  const auto empty = roots.machine()->usage(roots.root / "slot", 100);
  CHECK(empty.files == 1);
  roots.put("slot/a", std::string(100'000, 'a'));
  roots.put("slot/deep/b", std::string(50'000, 'b'));
  std::filesystem::resize_file(roots.root / "slot/a", 100'000'000);  // a hole holds nothing
  std::filesystem::create_hard_link(roots.root / "slot/a", roots.root / "slot/again");
  std::filesystem::create_symlink("/", roots.root / "slot/link");
  const auto usage = roots.machine()->usage(roots.root / "slot", 100);
  CHECK(usage.bytes - empty.bytes >= 150'000);
  CHECK(usage.bytes - empty.bytes < 200'000);
  CHECK(usage.files == 5);
  CHECK_FALSE(usage.hidden);
  CHECK(roots.machine()->usage(roots.root / "slot", 2).files == 2);
  CHECK(roots.machine()->usage(roots.root / "absent", 2).files == 0);
}

TEST_CASE("Directories in directories are looked into to a bound, and told of") {
  const Roots roots;
  io::Path path = roots.root / "slot";
  for (int depth = 0; depth < 100; ++depth) path /= "d";
  std::filesystem::create_directories(path);
  const auto usage = roots.machine()->usage(roots.root / "slot", 10'000);
  CHECK(usage.hidden);
  CHECK(usage.files == 64);
}

TEST_CASE("A directory that cannot be listed is told of") {
  const Roots roots;
  const io::Path closed = roots.root / "slot/closed";
  roots.put("slot/closed/file", "x");
  std::filesystem::permissions(closed, std::filesystem::perms(0300));
  std::filesystem::permissions(roots.root / "slot", std::filesystem::perms(0755));
  const auto machine = roots.machine();
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
    ::_exit(machine->usage(roots.root / "slot", 100).hidden ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::filesystem::permissions(closed, std::filesystem::perms(0700));
}

TEST_CASE("Files without a name count as long as somebody holds them, and pipes do") {
  const Roots roots;
  const io::Path slot = roots.root / "slot";
  std::filesystem::create_directories(slot);
  const auto machine = make_machine();
  const io::TreeHandle self(::getpid());
  const auto before = machine->descriptors(self, slot);
  const auto open_removed = [&slot] {
    const int file = ::open((slot / "file").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const std::string text(100'000, 'x');
    REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    REQUIRE(::unlink((slot / "file").c_str()) == 0);
    return file;
  };
  const int file = open_removed();
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const auto with = machine->descriptors(self, slot);
  CHECK(with.pipes == before.pipes + 1);
  CHECK(with.removed_bytes >= before.removed_bytes + 100'000);
  CHECK(with.removed_bytes < before.removed_bytes + 150'000);
  CHECK_FALSE(with.removed_mappings);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  CHECK_FALSE(machine->descriptors(self, slot).removed_mappings);  // its descriptor tells the size
  // A thread with descriptors of its own hides nothing.
  std::atomic<bool> opened{false}, leave{false};
  std::thread hiding([&] {
    REQUIRE(::unshare(CLONE_FILES) == 0);
    const int own = open_removed();
    opened = true;
    while (!leave) std::this_thread::yield();
    ::close(own);
  });
  while (!opened) std::this_thread::yield();
  CHECK(machine->descriptors(self, slot).removed_bytes >= before.removed_bytes + 200'000);
  leave = true;
  hiding.join();
  ::close(file);
  ::close(ends[0]);
  ::close(ends[1]);
  const auto unseen = machine->descriptors(self, slot);
  CHECK(unseen.removed_mappings);
  CHECK(unseen.pipes == before.pipes);
  ::munmap(mapped, 4096);
  CHECK_FALSE(machine->descriptors(self, slot).removed_mappings);
}

TEST_CASE("A library that an upgrade replaced is no file that the program removed") {
  const Roots roots;
  const io::Path slot = roots.root / "slot";
  std::filesystem::create_directories(slot);
  struct stat facts {};
  REQUIRE(::stat(slot.c_str(), &facts) == 0);
  const auto maps = [&](const std::string& path) {
    std::ofstream(roots.root / "proc/42/maps")
        << std::hex << "7f0000000000-7f0000001000 r-xp 00000000 " << major(facts.st_dev) << ':'
        << minor(facts.st_dev) << std::dec << " 4711                       " << path << " (deleted)\n";
    return sandbox::descriptor_use({42}, roots.root / "proc", slot).removed_mappings;
  };
  CHECK_FALSE(maps("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  CHECK_FALSE(maps("/lib/x86_64-linux-gnu/libc.so.6"));  // as it is bound in a sandbox
  CHECK_FALSE(maps("/gleaner-sandbox"));
  CHECK(maps((slot / "library").string()));
  CHECK(maps("/tmp/usr/lib/libc.so.6"));
  CHECK(maps("/library/libc.so.6"));
}

TEST_CASE(
    "A control group's quota and limit of memory count, of either version, wherever on the way they are") {
  const Roots roots;
  const auto machine = roots.machine();
  const std::int64_t all = machine->memory_bytes();
  CHECK(machine->quota() > 1e6);  // infinite
  CHECK(all > 200 << 20);
  roots.put("proc/self/cgroup", "4:memory:/box/inner\n2:cpu,cpuacct:/box/inner\n1:name=systemd:/\n");
  roots.put("cgroup/cpu/box/inner/cpu.cfs_quota_us", "-1\n");
  roots.put("cgroup/cpu/box/inner/cpu.cfs_period_us", "100000\n");
  CHECK(machine->quota() > 1e6);
  roots.put("cgroup/cpu/box/cpu.cfs_quota_us", "30000\n");
  roots.put("cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  roots.put("cgroup/memory/box/inner/memory.limit_in_bytes", "9223372036854771712\n");
  roots.put("cgroup/memory/box/memory.limit_in_bytes", "157286400\n");
  CHECK(machine->quota() == Approx(0.3));
  CHECK(machine->cores() == 1);
  CHECK(machine->memory_bytes() == 150 << 20);
  // It changed meanwhile; and seen from inside of the container, where the path is the outside's.
  roots.put("cgroup/cpu/box/cpu.cfs_quota_us", "120000\n");
  CHECK(machine->quota() == Approx(1.2));
  roots.put("proc/self/cgroup", "2:cpu:/docker/0123\n");
  roots.put("cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  roots.put("cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(machine->quota() == Approx(0.5));
  roots.put("proc/self/cgroup", "0::/system.slice/gleaner.service\n");
  roots.put("cgroup/system.slice/gleaner.service/cpu.max", "max 100000\n");
  roots.put("cgroup/system.slice/gleaner.service/memory.max", "max\n");
  CHECK(machine->quota() > 1e6);
  CHECK(machine->memory_bytes() == all);
  roots.put("cgroup/system.slice/cpu.max", "25000 100000\n");
  roots.put("cgroup/system.slice/memory.max", "104857600\n");
  CHECK(machine->quota() == Approx(0.25));
  CHECK(machine->memory_bytes() == 100 << 20);
}

// Runs `check` in a process of such a group of version 1; false where none can be made.
template <typename Check>
bool in_group(const io::Path& mount, const std::vector<std::pair<std::string, std::string>>& settings,
              const Check& check) {
  const io::Path group = mount / ("gleaner-machine-test-" + std::to_string(::getpid()));
  std::error_code error;
  if (!std::filesystem::create_directory(group, error)) return false;
  for (const auto& [name, value] : settings) std::ofstream(group / name) << value << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(group / "cgroup.procs") << ::getpid() << std::flush;
    ::_exit(check() ? 0 : 1);
  }
  int status = 1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (int tries = 0; tries < 500 && ::rmdir(group.c_str()) != 0; ++tries) ::usleep(10'000);
  return true;
}

TEST_CASE("Real control groups bound cores, quota and memory") {
  const io::Path mount = "/sys/fs/cgroup";
  const auto machine = make_machine();
  (void)in_group(mount / "cpu", {{"cpu.cfs_period_us", "100000"}, {"cpu.cfs_quota_us", "30000"}},
                 [&] { return machine->quota() > 0.29 && machine->quota() < 0.31 && machine->cores() == 1; });
  (void)in_group(mount / "memory", {{"memory.limit_in_bytes", "157286400"}},
                 [&] { return machine->memory_bytes() == 150 << 20; });
  (void)in_group(mount / "cpuset", {{"cpuset.mems", "0"}, {"cpuset.cpus", "0"}},
                 [&] { return machine->cores() == 1; });
}

TEST_CASE("One daemon a state directory") {
  const Roots roots;
  const io::Path path = roots.root / "lock";
  {
    const auto first = StateLock::take(path);
    REQUIRE(first.ok());
    const auto second = StateLock::take(path);
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().kind == ErrorKind::conflict);
  }
  CHECK(StateLock::take(path).ok());
}

}  // namespace
}  // namespace gleaner::platform
