#include "client/platform/cpu_limiter.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "client/platform/sandbox.h"
#include "shared/io/process.h"
#include "shared/io/process_tree.h"
#include "tests/catch.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;

struct Spinner {
  std::unique_ptr<io::Process> process;
  explicit Spinner(const std::string& script = "while :; do :; done") {
    io::ProcessSpec spec;
    spec.arguments = {"/bin/bash", "-c", script};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    auto started = io::real_processes().start(spec);
    REQUIRE(started.ok());
    process = std::move(started).value();
  }
  [[nodiscard]] Duration cpu() const { return io::ProcessTree().cpu_time(process->tree()).value(); }
  void pin(int core) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    REQUIRE(::sched_setaffinity(static_cast<pid_t>(process->tree().native()), sizeof set, &set) == 0);
  }
};

// A control group of version 2 with that process in it, where one can be made.
class ControlGroup {
 public:
  ControlGroup(bool wanted, io::TreeHandle::Native process) {
    for (const char* mount : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
      const io::Path made = io::Path(mount) / ("gleaner-limiter-test-" + std::to_string(::getpid()));
      std::error_code error;
      if (!wanted || !path_.empty() ||
          !std::filesystem::exists(io::Path(mount) / "cgroup.controllers", error) ||
          !std::filesystem::create_directory(made, error) || error)
        continue;
      path_ = made;
      std::ofstream(made / "cgroup.procs") << process << std::flush;
    }
  }
  ~ControlGroup() {
    if (path_.empty()) return;
    std::ofstream(path_ / "cgroup.kill") << 1 << std::flush;
    for (int tries = 0; tries < 500 && ::rmdir(path_.c_str()) != 0; ++tries)
      std::this_thread::sleep_for(10ms);
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  [[nodiscard]] const io::Path& path() const { return path_; }

 private:
  io::Path path_;
};

int first_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) return core;
  return 0;
}

// Until both have used so much CPU time together; other load on the machine makes it take longer, not differ.
void wait_for_cpu(const Spinner& a, const Spinner& b, Duration total) {
  const auto give_up = std::chrono::steady_clock::now() + 30s;
  while (a.cpu() + b.cpu() < total && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(20ms);
}

// Shares are of time, so ratios hold where there is time enough for both: small shares on one core, as the
// notes on measuring under foreign load advise (ratios between our own tasks, by CPU time).
TEST_CASE("Two limited spinners use CPU as their shares say: 10 to 5") {
  const Spinner fast;
  const Spinner slow;
  fast.pin(first_core());
  slow.pin(first_core());
  CpuLimiter first;
  CpuLimiter second;
  first.set_share(0.10);
  second.set_share(0.05);
  first.add({fast.process->tree(), 1, {}});
  second.add({slow.process->tree(), 1, {}});
  wait_for_cpu(fast, slow, 100ms);  // past the beginning
  const Duration fast_before = fast.cpu();
  const Duration slow_before = slow.cpu();
  wait_for_cpu(fast, slow, fast_before + slow_before + 900ms);
  const double ratio = to_seconds(fast.cpu() - fast_before) / to_seconds(slow.cpu() - slow_before);
  INFO("ratio " << ratio);
  CHECK(ratio > 1.4);
  CHECK(ratio < 2.8);
}

bool is_stopped(const Spinner& spinner) {
  std::ifstream file("/proc/" + std::to_string(spinner.process->tree().native()) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return state == "T";
}

TEST_CASE("Two kernels that may use half of a core each take turns") {
  if (std::thread::hardware_concurrency() < 2) return;
  const Spinner one, other;
  int attempts_left = 5;
  while (attempts_left-- > 0) {
    CpuLimiter limiter;
    limiter.add({one.process->tree(), 1, {}});
    limiter.add({other.process->tree(), 1, {}});
    limiter.set_share(0.5);  // both begin at the same moment
    std::this_thread::sleep_for(100ms);
    const Duration used_before = one.cpu() + other.cpu();
    const auto begin = std::chrono::steady_clock::now();
    int looks = 0, both = 0, either = 0;
    for (; std::chrono::steady_clock::now() < begin + 1s; ++looks) {
      const int running = (is_stopped(one) ? 0 : 1) + (is_stopped(other) ? 0 : 1);
      both += running == 2 ? 1 : 0;
      either += running;
      std::this_thread::sleep_for(500us);
    }
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double used = to_seconds(one.cpu() + other.cpu() - used_before);
    // Whom other load keeps from its share is not stopped.
    if (used < 0.9 * passed * either / looks) continue;
    INFO(both << " of " << looks);
    CHECK(both < looks / 10);
    return;
  }
  WARN("other load left too little processor time to see them take turns");
}

TEST_CASE("A limited spinner never uses more than its share") {
  const Spinner spinner;
  CpuLimiter limiter;
  limiter.set_share(0.2);
  const auto begin = std::chrono::steady_clock::now();
  const Duration before = spinner.cpu();
  limiter.add({spinner.process->tree(), 1, {}});
  std::this_thread::sleep_for(1500ms);
  const double used = to_seconds(spinner.cpu() - before);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(used <= 0.2 * passed + 0.1);
  CHECK(used > 0);
}

TEST_CASE("Pause holds a group at full share and at less, resume lets it go, and removal forgets it") {
  const double share = GENERATE(1.0, 0.5);
  const bool with_group = GENERATE(false, true);
  const Spinner spinner;
  const io::TreeHandle group = spinner.process->tree();
  const ControlGroup control(with_group, group.native());
  if (with_group && control.path().empty()) return;  // none can be made here
  CpuLimiter limiter;
  limiter.set_share(share);
  limiter.add({group, 1, control.path()});
  const auto grows_within = [&](Duration patience) {
    const Duration before = spinner.cpu();
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < give_up) {
      if (spinner.cpu() > before + 5ms) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  };
  CHECK(grows_within(5s));
  limiter.pause(group);
  // A busy host may take its time until the signal is seen, and counts what it took meanwhile.
  const auto stands = [&] {
    std::ifstream stat("/proc/" + std::to_string(group.native()) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    return text.find(") T ") != std::string::npos;
  };
  for (int i = 0; i < 500 && !stands(); ++i) std::this_thread::sleep_for(10ms);
  CHECK_FALSE(grows_within(250ms));
  limiter.resume(group);
  CHECK(grows_within(5s));
  limiter.remove(group);
  limiter.pause(group);  // unknown: nothing happens
}

TEST_CASE(
    "What is continued in its pause stands still in a control group, and is killed by name without one") {
  const bool with_group = GENERATE(false, true);
  const Spinner spinner;
  const io::TreeHandle group = spinner.process->tree();
  const ControlGroup control(with_group, group.native());
  if (with_group && control.path().empty()) return;
  struct Kicker {  // it stays outside of the control group
    pid_t pid;
    explicit Kicker(int group) : pid(::fork()) {
      while (pid == 0) {
        ::kill(-group, SIGCONT);
        ::usleep(1000);
      }
    }
    ~Kicker() {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  } const kicker(static_cast<int>(group.native()));
  CpuLimiter limiter;
  limiter.add({group, 1, control.path()});
  limiter.pause(group);
  std::this_thread::sleep_for(50ms);
  const Duration before = spinner.cpu();
  if (with_group) {
    std::this_thread::sleep_for(1s);
    CHECK(spinner.cpu() - before < 50ms);
    CHECK(limiter.offence(group).empty());
    return;
  }
  const auto give_up = std::chrono::steady_clock::now() + 30s;
  while (limiter.offence(group).empty() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(20ms);
  CHECK(limiter.offence(group).find("s of processor time while it was paused") != std::string::npos);
  while (!spinner.process->poll_exit() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(5ms);
  REQUIRE(spinner.process->poll_exit());
  CHECK(spinner.process->poll_exit()->cause == io::ProcessExit::Cause::killed);
}

TEST_CASE("At a full share, too, a kernel gets as many processors as it was promised, and no more") {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  const Spinner spinner("for i in 1 2 3; do (while :; do :; done) & done; wait");
  CpuLimiter limiter;
  limiter.add({spinner.process->tree(), 1, {}});
  std::this_thread::sleep_for(500ms);  // its processes are seen, and what they took meanwhile is paid back
  const auto begin = std::chrono::steady_clock::now();
  const Duration before = spinner.cpu();
  std::this_thread::sleep_for(4s);
  const double used = to_seconds(spinner.cpu() - before);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(used << " s of " << passed);
  CHECK(used <= 1.1 * passed + 0.1);
}

TEST_CASE("Short-lived processes that nobody waits for count as if they had run all the time") {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  // What they used is counted by whoever reads their words: nothing else does.
  const Spinner spinner(
      "exec /usr/bin/python3 -c '\n"
      "import os, signal, time\n"
      "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
      "for _ in range(3):\n"
      "    if os.fork() == 0: break\n"
      "while True:\n"
      "    ends = os.pipe()\n"
      "    if os.fork() == 0:\n"
      "        end = time.monotonic() + 0.02\n"
      "        while time.monotonic() < end: pass\n"
      "        os.write(1, b\"%d\\n\" % time.process_time_ns())\n"
      "        os._exit(0)\n"
      "    os.close(ends[1])\n"
      "    os.read(ends[0], 1)\n"
      "    os.close(ends[0])\n"
      "'");
  CpuLimiter limiter;
  limiter.add({spinner.process->tree(), 1, {}});
  Bytes words;
  const auto read_for = [&](Duration length) {
    words.clear();
    for (const auto end = std::chrono::steady_clock::now() + length;
         std::chrono::steady_clock::now() < end;) {
      (void)spinner.process->read_some(words, 1 << 20);
      std::this_thread::sleep_for(20ms);
    }
    double seconds = 0;
    std::istringstream lines(words);
    for (double one = 0; lines >> one;) seconds += 1e-9 * one;
    return seconds;
  };
  (void)read_for(3s);
  const auto begin = std::chrono::steady_clock::now();
  const double used = read_for(5s);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(used << " s of " << passed);
  CHECK(used <= 1.15 * passed + 0.1);
}

TEST_CASE("A share that is lowered or raised while a kernel runs holds from then on") {
  const Spinner spinner;
  CpuLimiter limiter;
  limiter.add({spinner.process->tree(), 1, {}});
  while (spinner.cpu() < 1s) std::this_thread::sleep_for(20ms);
  limiter.set_share(0.5);
  const Duration before = spinner.cpu();
  const auto give_up = std::chrono::steady_clock::now() + 4s;  // of 10 s that it stood still
  while (spinner.cpu() - before < 200ms && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(20ms);
  CHECK(spinner.cpu() - before >= 200ms);
}

TEST_CASE(
    "The plain sandbox starts a kernel in its directory, with limits, priority and a clean environment") {
  const io::Path directory =
      std::filesystem::temp_directory_path() / ("gleaner-sandbox-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  const io::Path program = directory / "show";
  REQUIRE(io::real_files()
              .write(program, "#!/bin/sh\npwd\nenv | sort\nnice\nulimit -f\n", io::Mode::executable)
              .ok());
  ::setenv("GLEANER_TEST_SECRET", "secret", 1);
  const auto launcher = make_process_launcher(make_plain_sandbox(Priority::idle), io::real_processes());
  host::KernelLaunch launch;
  launch.program = program;
  launch.slot_directory = directory;
  launch.threads = 3;
  launch.memory_bytes = std::int64_t{64} << 20;
  launch.disk_bytes = std::int64_t{1} << 20;
  auto started = launcher->start(launch);
  REQUIRE(started.ok());
  Bytes output;
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  while (std::chrono::steady_clock::now() < give_up) {
    const auto kind = (*started)->read_some(output, 1 << 16);
    if (kind == io::ReadKind::closed) break;
    if (kind == io::ReadKind::would_block) std::this_thread::sleep_for(2ms);
  }
  INFO(output);
  CHECK(output.find("GLEANER_THREADS=3") != std::string::npos);
  CHECK(output.find("OMP_NUM_THREADS=3") != std::string::npos);
  CHECK(output.find("HOME=" + directory.string()) != std::string::npos);
  CHECK(output.find("secret") == std::string::npos);
  CHECK(output.find("\n19\n") != std::string::npos);
  CHECK(output.starts_with(directory.string()));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gleaner::platform
