#include "shared/io/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "shared/io/descriptor.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

using namespace gleaner;
using namespace gleaner::io;
using gleaner::testing::TemporaryDirectory;

namespace {

constexpr std::chrono::seconds patience{15};

// Asks again and again, waiting on the child's output in between so that nothing spins.
bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.arguments = {"/bin/sh", "-c", script};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}

std::unique_ptr<Process> start(const ProcessSpec& spec) {
  auto started = real_processes().start(spec);
  if (!started.ok()) FAIL(started.error().message);
  return std::move(started).value();
}

int pid_of(const Process& process) {
  return static_cast<int>(process.tree().native());
}

ProcessExit wait_for_exit(Process& process) {
  std::optional<ProcessExit> exit;
  REQUIRE(eventually([&] { return (exit = process.poll_exit()).has_value(); }));
  return *exit;
}

// All output until it is closed.
Bytes read_all(Process& process) {
  Bytes output;
  const bool closed = eventually([&] { return process.read_some(output, 1 << 20) == ReadKind::closed; });
  REQUIRE(closed);
  return output;
}

Bytes output_of(const ProcessSpec& spec) {
  auto process = start(spec);
  Bytes output = read_all(*process);
  INFO(process->error_tail());
  CHECK(wait_for_exit(*process).well());
  return output;
}

// The state letter of /proc/PID/stat; empty once it is gone.
std::string state_of(int pid) {
  const auto stat = real_files().read("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat.ok()) return "";
  const auto end_of_name = stat->rfind(')');
  return stat->substr(end_of_name + 2, 1);
}

}  // namespace

TEST_CASE("a child talks through its pipes") {
  auto process = start({{"/bin/cat"}, {}, {}, {}});
  CHECK(process->write_some("hello").value() == 5);
  Bytes output;
  REQUIRE(eventually([&] {
    (void)process->read_some(output, 100);
    return output == "hello";
  }));
  CHECK(process->read_some(output, 100) == ReadKind::would_block);
  CHECK_FALSE(process->poll_exit());
  process->close_input();
  const ProcessExit exit = wait_for_exit(*process);
  CHECK(exit.exited());
  CHECK(exit.status == 0);
  CHECK(process->read_some(output, 100) == ReadKind::closed);
  CHECK(process->write_some("x").error().kind == ErrorKind::io);
  CHECK(process->poll_exit()->well());  // told as often as asked
}

TEST_CASE("a megabyte goes through without blocking either side") {
  auto process = start({{"/bin/cat"}, {}, {}, {}});
  Bytes sent;
  for (int i = 0; i < 1 << 18; ++i) sent += std::to_string(i % 10) + "abc";
  Bytes received;
  std::size_t written = 0;
  bool was_full = false;
  REQUIRE(eventually([&] {
    const auto put = process->write_some(std::string_view(sent).substr(written));
    REQUIRE(put.ok());
    was_full |= *put < sent.size() - written;
    written += *put;
    (void)process->read_some(received, 10'000);
    return received.size() == sent.size();
  }));
  CHECK(was_full);
  CHECK(received == sent);
}

TEST_CASE("ends are told apart") {
  using Cause = ProcessExit::Cause;
  const auto ended = [](const std::string& script) { return wait_for_exit(*start(shell(script))); };
  CHECK(ended("exit 0").well());
  const ProcessExit three = ended("exit 3");
  CHECK((three.exited() && !three.well() && !three.by_others()));
  CHECK(three.describe() == "exited with status 3");
  const ProcessExit killed = ended("kill -9 $$");
  CHECK((killed.cause == Cause::killed && killed.by_others()));
  CHECK(killed.describe() == "was killed by signal 9 (Killed)");
  const ProcessExit crashed = ended("kill -SEGV $$");
  CHECK((crashed.cause == Cause::crashed && !crashed.by_others()));
  CHECK(crashed.describe() == "was killed by signal 11 (Segmentation fault)");
  CHECK(ended("kill -XFSZ $$").cause == Cause::over_limit);
  CHECK(ended("kill -TERM $$").cause == Cause::crashed);
}

TEST_CASE("writing to a child that ended is an error, not a signal") {
  auto process = start(shell("exec 0<&-; echo closed; exec sleep 1000"));
  Bytes output;
  REQUIRE(eventually([&] {
    (void)process->read_some(output, 100);
    return output == "closed\n";
  }));
  const auto written = process->write_some("x");
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().kind == ErrorKind::io);
}

TEST_CASE("standard error is drained and its tail is kept") {
  auto process =
      start(shell("i=0; while [ $i -lt 30000 ]; do echo 'some line' >&2; i=$((i+1)); done; "
                  "echo 'last words' >&2; echo done"));
  CHECK(read_all(*process) == "done\n");  // more than a pipe holds, so reading output must drain it
  CHECK(wait_for_exit(*process).well());
  const std::string tail = process->error_tail();
  CHECK(tail.size() == 4096);
  CHECK(tail.ends_with("some line\nlast words\n"));
  CHECK(process->error_bytes() == 30'000 * 10 + 11);
  CHECK(process->errors_since(process->error_bytes()).empty());
  CHECK(process->errors_since(process->error_bytes() - 11) == "last words\n");
  CHECK(process->errors_since(0).size() == 64 << 10);
  CHECK(process->errors_since(0).ends_with(tail));
}

TEST_CASE("a group is stopped, continued and killed with its children") {
  auto process = start(shell("sleep 1000 & echo $!; wait"));
  Bytes output;
  REQUIRE(eventually([&] {
    (void)process->read_some(output, 100);
    return output.ends_with("\n");
  }));
  const int grandchild = std::stoi(output);
  process->suspend();
  process->suspend();  // one resume() is enough
  CHECK(eventually([&] { return state_of(pid_of(*process)) == "T" && state_of(grandchild) == "T"; }));
  CHECK_FALSE(process->poll_exit());
  process->resume();
  CHECK(eventually([&] { return state_of(pid_of(*process)) == "S" && state_of(grandchild) == "S"; }));
  process->end_tree();
  const ProcessExit exit = wait_for_exit(*process);
  CHECK(exit.cause == ProcessExit::Cause::killed);
  CHECK(exit.by_others());
  CHECK(eventually([&] { return state_of(grandchild).find_first_of("SRT") == std::string::npos; }));
  process->end_tree();  // nothing to kill any more
}

TEST_CASE("what a child leaves behind in its group goes with it") {
  auto process = start(shell("sleep 1000 >/dev/null 2>&1 & echo $!"));
  const int grandchild = std::stoi(read_all(*process));
  CHECK(wait_for_exit(*process).well());
  CHECK(eventually([&] { return state_of(grandchild).find_first_of("SRT") == std::string::npos; }));
}

TEST_CASE("letting go of a running child kills it") {
  int pid = 0;
  {
    auto process = start(shell("trap '' TERM INT HUP; sleep 1000; sleep 1000"));
    pid = pid_of(*process);
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a program that cannot start says why") {
  TemporaryDirectory directory;
  const auto message = [](const ProcessSpec& spec, ErrorKind kind) {
    const auto started = real_processes().start(spec);
    if (started.ok()) return std::string("started");
    CHECK(started.error().kind == kind);
    return started.error().message;
  };
  const auto program = [&](const std::string& name) {
    return ProcessSpec{{(directory / name).string()}, {}, {}, {}};
  };
  REQUIRE(real_files().write(directory / "plain", "#!/bin/sh\n", Mode::normal).ok());
  REQUIRE(real_files().write(directory / "orphan", "#!/no/such/interpreter\n", Mode::executable).ok());
  REQUIRE(real_files().write(directory / "noise", "\x01\x02 not a program", Mode::executable).ok());
  CHECK(message(program("none"), ErrorKind::not_found).find("no such file") != std::string::npos);
  CHECK(message(program("plain"), ErrorKind::io).find("chmod +x") != std::string::npos);
  CHECK(message(program("orphan"), ErrorKind::not_found).find("interpreter") != std::string::npos);
  CHECK(message(program("noise"), ErrorKind::io).find("neither a program for this platform") !=
        std::string::npos);
  CHECK(message({}, ErrorKind::invalid).find("without a program") != std::string::npos);
  ProcessSpec elsewhere = shell("true");
  elsewhere.working_directory = directory / "none";
  CHECK(message(elsewhere, ErrorKind::not_found).find("enter the working directory") != std::string::npos);
}

TEST_CASE("the environment, directory and limits are exactly those given") {
  TemporaryDirectory directory;
  ProcessSpec spec{{"/usr/bin/env"}, {{"A", "1"}, {"B", "two words"}}, directory.path(), {}};
  CHECK(output_of(spec) == "A=1\nB=two words\n");

  ProcessSpec where = shell("pwd -P; ulimit -n; ulimit -f; ulimit -v; ulimit -c");
  where.working_directory = directory.path();
  where.limits.open_files = 77;
  where.limits.file_bytes = 1 << 20;
  where.limits.memory_bytes = std::int64_t{1} << 30;
  const auto real = std::filesystem::canonical(directory.path()).string();
  CHECK(output_of(where) == real + "\n77\n2048\n1048576\n0\n");
}

TEST_CASE("a child gets the idle class, or a nice value") {
  ProcessSpec idle{{"/bin/cat"}, {}, {}, {}};
  idle.limits.priority = ProcessPriority::idle;
  auto process = start(idle);
  CHECK(::sched_getscheduler(pid_of(*process)) == SCHED_IDLE);
  ProcessSpec nice{{"/bin/cat"}, {}, {}, {}};
  nice.limits.priority = ProcessPriority::low;
  auto polite = start(nice);
  CHECK(::sched_getscheduler(pid_of(*polite)) == SCHED_OTHER);
  const int own = ::getpriority(PRIO_PROCESS, 0);  // the tests themselves may be nice
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid_of(*polite))) == std::max(own, 5));
}

TEST_CASE("a child is not raised above a program that runs at a lower priority itself") {
  std::thread low([] {  // a priority is a thread's
    REQUIRE(::setpriority(PRIO_PROCESS, 0, 15) == 0);
    ProcessSpec nice{{"/bin/cat"}, {}, {}, {}};
    nice.limits.priority = ProcessPriority::low;
    const auto child = start(nice);
    CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid_of(*child))) == 15);
  });
  low.join();
}

TEST_CASE("no descriptor, ignored signal or blocked signal reaches a child") {
  const Descriptor leak(::open("/dev/null", O_RDONLY));  // without close-on-exec
  const Descriptor high(::fcntl(leak.get(), F_DUPFD, 200));
  REQUIRE(high.valid());
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  ProcessSpec list{{"/bin/ls", "/proc/self/fd"}, {}, {}, {}};
  const Bytes descriptors = output_of(list);
  const Bytes status = output_of({{"/bin/cat", "/proc/self/status"}, {}, {}, {}});
  ::signal(SIGPIPE, before);
  CHECK(descriptors == "0\n1\n2\n3\n");  // 3 is the directory it lists
  CHECK(status.find("SigIgn:\t0000000000000000") != std::string::npos);
  CHECK(status.find("SigBlk:\t0000000000000000") != std::string::npos);
}

TEST_CASE("CPU time is the child's own and stays known") {
  auto process = start(shell("while :; do :; done"));
  CHECK(eventually([&] { return process->cpu_time() > std::chrono::milliseconds{30}; }));
  process->suspend();
  CHECK(eventually([&] { return state_of(pid_of(*process)) == "T"; }));
  const Duration stopped = process->cpu_time();
  CHECK(process->cpu_time() == stopped);
  process->end_tree();
  wait_for_exit(*process);
  CHECK(process->cpu_time() >= stopped - std::chrono::milliseconds{20});  // rusage may count in coarser steps
}

TEST_CASE("a limit on file size is kept") {
  TemporaryDirectory directory;
  ProcessSpec spec = shell("dd if=/dev/zero of=big bs=1024 count=100 2>/dev/null; wc -c < big");
  spec.working_directory = directory.path();
  spec.limits.file_bytes = 10'240;
  auto process = start(spec);
  CHECK(std::stoi(read_all(*process)) == 10'240);
}
