#include "client/platform/cpu_limiter.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
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
  Spinner() {
    io::ProcessSpec spec;
    spec.arguments = {"/bin/sh", "-c", "while :; do :; done"};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    auto started = io::real_processes().start(spec);
    REQUIRE(started.ok());
    process = std::move(started).value();
  }
  [[nodiscard]] Duration cpu() const { return io::ProcessTree().cpu_time(process->pid()).value(); }
  void pin(int core) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    REQUIRE(::sched_setaffinity(process->pid(), sizeof set, &set) == 0);
  }
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
  first.add(fast.process->pid(), 1);
  second.add(slow.process->pid(), 1);
  wait_for_cpu(fast, slow, 100ms);  // past the beginning
  const Duration fast_before = fast.cpu();
  const Duration slow_before = slow.cpu();
  wait_for_cpu(fast, slow, fast_before + slow_before + 900ms);
  const double ratio = to_seconds(fast.cpu() - fast_before) / to_seconds(slow.cpu() - slow_before);
  INFO("ratio " << ratio);
  CHECK(ratio > 1.4);
  CHECK(ratio < 2.8);
}

TEST_CASE("A limited spinner never uses more than its share") {
  const Spinner spinner;
  CpuLimiter limiter;
  limiter.set_share(0.2);
  const auto begin = std::chrono::steady_clock::now();
  const Duration before = spinner.cpu();
  limiter.add(spinner.process->pid(), 1);
  std::this_thread::sleep_for(1500ms);
  const double used = to_seconds(spinner.cpu() - before);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(used <= 0.2 * passed + 0.1);
  CHECK(used > 0);
}

TEST_CASE("Pause holds a group at full share and at less, resume lets it go, and removal forgets it") {
  const double share = GENERATE(1.0, 0.5);
  const Spinner spinner;
  const int group = spinner.process->pid();
  CpuLimiter limiter;
  limiter.set_share(share);
  limiter.add(group, 1);
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
    std::ifstream stat("/proc/" + std::to_string(group) + "/stat");
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
  CHECK(output.find("HOME=" + directory.string()) != std::string::npos);
  CHECK(output.find("secret") == std::string::npos);
  CHECK(output.find("\n19\n") != std::string::npos);
  CHECK(output.starts_with(directory.string()));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gleaner::platform
