// Starting a child: everything that needs memory is prepared before fork(); between fork() and execve() the
// child makes only async-signal-safe calls, because other threads may hold any lock at that moment. Its
// failures come back through a pipe that execve() closes.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

#include "shared/io/child_linux.h"
#include "shared/io/process.h"
#include "shared/io/system_error.h"

namespace gleaner::io {
namespace {

enum class Step : int { group, parent, directory, descriptors, limits, priority, execute };

struct Failure {
  Step step;
  int error_number;
};

// All that the child needs, in the form that system calls take.
struct Preparation {
  std::string program;
  std::vector<std::string> environment_lines;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string directory;
  ProcessLimits limits;
  pid_t parent = 0;
  int input = -1, output = -1, error = -1, report = -1;
};

[[noreturn]] void give_up(const Preparation& prepared, Step step) {
  const Failure failure{step, errno};
  ssize_t put = 0;
  do {
    put = ::write(prepared.report, &failure, sizeof failure);
  } while (put < 0 && errno == EINTR);
  ::_exit(127);
}

bool set_limit(int resource, std::int64_t value) {
  const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  // NOLINTNEXTLINE: the enum type of the parameter differs between C libraries
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
}

// Also where nobody can tell.
bool dumps_into_a_pipe() {
  const int pattern = ::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  if (pattern < 0) return true;
  char first = '|';
  const bool known = ::read(pattern, &first, 1) == 1;
  ::close(pattern);
  return !known || first == '|';
}

// Not 0: where core dumps go through a pipe, the system would still start the reader, as the superuser, for
// each crash. A limit of 1 byte is its word for none (core(5), fs/coredump.c). sudo leaves 0 to programs that
// are not the superuser's, who cannot raise it: as good where they go into files.
bool limit_core() {
  if (set_limit(RLIMIT_CORE, 1)) return true;
  rlimit present{};
  return ::getrlimit(RLIMIT_CORE, &present) == 0 && present.rlim_max == 0 && !dumps_into_a_pipe();
}

bool set_limits(const ProcessLimits& limits) {
  if (limits.memory_bytes > 0 && !set_limit(RLIMIT_AS, limits.memory_bytes)) return false;
  if (limits.file_bytes > 0 && !set_limit(RLIMIT_FSIZE, limits.file_bytes)) return false;
  return set_limit(RLIMIT_NOFILE, limits.open_files) && limit_core();
}

// From ioprio_set(2): the C library has no names for them, and the kernel's header is not C++ in every
// version.
constexpr int ioprio_who_process = 1;
constexpr int ioprio_class_idle = 3;
constexpr int ioprio_class_shift = 13;

int nice_of(ProcessPriority priority) {
  switch (priority) {
    case ProcessPriority::usual:
      return 0;
    case ProcessPriority::low:
      return 5;
    case ProcessPriority::lowest:
    case ProcessPriority::idle:
      return 19;
  }
  return 0;
}

// Never above what this process has itself: it may not be allowed to, and whoever lowered it meant all of it.
bool set_priority(ProcessPriority priority) {
  const int nice = nice_of(priority);
  if (nice > ::getpriority(PRIO_PROCESS, 0) && ::setpriority(PRIO_PROCESS, 0, nice) != 0) return false;
  if (priority != ProcessPriority::idle) return true;
  const sched_param none{};
  if (::sched_setscheduler(0, SCHED_IDLE, &none) != 0) return false;
  // Not fatal: without it the kernel derives the I/O class from the scheduling class, which is idle already.
  ::syscall(SYS_ioprio_set, ioprio_who_process, 0, ioprio_class_idle << ioprio_class_shift);
  return true;
}

// Handlers and ignored signals (SIGPIPE!) of the parent are not the child's business.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number)
    ::signal(number, SIG_DFL);  // fails for KILL and STOP: as it should
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const Preparation& prepared) {
  if (::setpgid(0, 0) != 0) give_up(prepared, Step::group);
  if (prepared.limits.die_with_parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(prepared, Step::parent);
    if (::getppid() != prepared.parent) ::_exit(127);  // it died before the call above
  }
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0)
    give_up(prepared, Step::directory);
  // The numbers are 3 or more (make_pipe), so that none is overwritten before it is used.
  if (::dup2(prepared.input, 0) < 0 || ::dup2(prepared.output, 1) < 0 || ::dup2(prepared.error, 2) < 0)
    give_up(prepared, Step::descriptors);
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) give_up(prepared, Step::descriptors);
  if (!set_limits(prepared.limits)) give_up(prepared, Step::limits);
  if (!set_priority(prepared.limits.priority)) give_up(prepared, Step::priority);
  reset_signals();
  ::execve(prepared.program.c_str(), prepared.arguments.data(), prepared.environment.data());
  give_up(prepared, Step::execute);
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

// Both ends close on exec and have numbers of 3 or more, even if the caller runs without standard
// descriptors.
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("create a pipe", errno);
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&pipe.read_end, &pipe.write_end}) {
    if (end->get() > 2) continue;
    Descriptor moved(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!moved.valid()) return system_error("create a pipe", errno);
    *end = std::move(moved);
  }
  return pipe;
}

Error execute_error(const std::string& program, int error_number) {
  const std::string what = "cannot start " + program + ": ";
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      if (::access(program.c_str(), F_OK) == 0)
        return {ErrorKind::not_found,
                what + "its interpreter (the program after #!, or its dynamic loader) is not installed"};
      return {ErrorKind::not_found, what + "there is no such file"};
    case EACCES:
      return {ErrorKind::io, what +
                                 "it is not executable: set its x permission (chmod +x), and check that its "
                                 "file system is not mounted with noexec"};
    case ENOEXEC:
      return {ErrorKind::io,
              what + "it is neither a program for this platform nor a script that starts with #!"};
    case E2BIG:
      return {ErrorKind::io, what + "its arguments and environment are too long"};
    case ETXTBSY:
      return {ErrorKind::io, what + "it is still being written: try again"};
    default:
      return system_error("start " + program, error_number);
  }
}

Error failure_error(const Preparation& prepared, const Failure& failure) {
  const auto setting = [&](const std::string& what) {
    return system_error(what + " for " + prepared.program, failure.error_number);
  };
  switch (failure.step) {
    case Step::group:
      return setting("create a process group");
    case Step::parent:
      return setting("tie the life of the process to this one");
    case Step::directory:
      return setting("enter the working directory " + prepared.directory);
    case Step::descriptors:
      return setting("set up the pipes (Linux 5.11 or newer is needed)");
    case Step::limits:
      if (failure.error_number == EPERM)
        return {ErrorKind::io,
                "cannot set the resource limits for " + prepared.program +
                    ": this process may have less than is needed (`ulimit -H -a`; sudo sets the size of core "
                    "dumps to 0): start it by systemd, or with `Defaults rlimit_core=default` in sudoers"};
      return setting("set the resource limits");
    case Step::priority:
      return setting("set the priority");
    case Step::execute:
      return execute_error(prepared.program, failure.error_number);
  }
  return setting("start a process");
}

Result<Preparation> prepare(const ProcessSpec& spec) {
  if (spec.arguments.empty() || spec.arguments.front().empty())
    return Error{ErrorKind::invalid, "cannot start a process without a program"};
  Preparation prepared;
  std::error_code code;
  prepared.program = std::filesystem::absolute(spec.arguments.front(), code).string();
  if (code) return system_error("find " + spec.arguments.front(), code.value());
  for (const auto& [name, value] : spec.environment) prepared.environment_lines.push_back(name + "=" + value);
  prepared.directory = spec.working_directory.string();
  prepared.limits = spec.limits;
  prepared.parent = ::getpid();
  return prepared;
}

// Pointers into `spec` and `prepared`, which must stay where they are.
void point(Preparation& prepared, const ProcessSpec& spec) {
  for (const auto& argument : spec.arguments)
    prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
  prepared.arguments.push_back(nullptr);
  for (auto& line : prepared.environment_lines) prepared.environment.push_back(line.data());
  prepared.environment.push_back(nullptr);
}

// fork() with all signals blocked in the child until it has reset them, so that no handler of ours runs
// there.
pid_t fork_child(const Preparation& prepared) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become_program(prepared);
  const int error_number = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error_number;
  return pid;
}

class LinuxRunner final : public ProcessRunner {
 public:
  Result<std::unique_ptr<Process>> start(const ProcessSpec& spec) override {
    TRY_ASSIGN(Preparation prepared, prepare(spec));
    point(prepared, spec);
    TRY_ASSIGN(Pipe input, make_pipe());
    TRY_ASSIGN(Pipe output, make_pipe());
    TRY_ASSIGN(Pipe error, make_pipe());
    TRY_ASSIGN(Pipe report, make_pipe());
    for (const Descriptor* end : {&input.write_end, &output.read_end, &error.read_end})
      if (::fcntl(end->get(), F_SETFL, O_NONBLOCK) != 0) return system_error("set up a pipe", errno);
    prepared.input = input.read_end.get();
    prepared.output = output.write_end.get();
    prepared.error = error.write_end.get();
    prepared.report = report.write_end.get();

    const pid_t pid = fork_child(prepared);
    if (pid < 0) return system_error("start " + prepared.program, errno);
    report.write_end.reset();
    Failure failure{};
    ssize_t got = 0;
    do {
      got = ::read(report.read_end.get(), &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
    // Adopted in any case: if it failed, its end reaps the child.
    auto child =
        adopt_child(pid, {std::move(input.write_end), std::move(output.read_end), std::move(error.read_end)},
                    spec.relays_exit ? ExitCodes::relayed : ExitCodes::own);
    if (got == static_cast<ssize_t>(sizeof failure)) return failure_error(prepared, failure);
    return child;
  }
};

}  // namespace

ProcessRunner& real_processes() {
  static LinuxRunner runner;
  return runner;
}

}  // namespace gleaner::io
