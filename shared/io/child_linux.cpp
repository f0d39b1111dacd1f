#include "shared/io/child_linux.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "shared/io/process_tree.h"
#include "shared/io/system_error.h"

namespace gleaner::io {
namespace {

constexpr std::size_t error_tail_bytes = 4096;
constexpr std::size_t errors_kept_bytes = 64 << 10;
constexpr std::size_t piece_bytes = 64 << 10;
constexpr auto clock_interval =
    std::chrono::milliseconds{10};  // three system calls for each process of a tree
constexpr std::size_t drained_bytes_max = 1
                                          << 20;  // per call: a child that never stops talking cannot hold us

// write() that reports a closed pipe as EPIPE and leaves the process's and the thread's signal handling
// alone.
ssize_t write_without_signal(int descriptor, std::string_view bytes) {
  sigset_t pipe_signal, pending, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
  const int error_number = errno;
  if (put < 0 && error_number == EPIPE && !was_pending) {
    const timespec at_once{0, 0};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error_number;
  return put;
}

// Appends one read() of at most `bytes_max`; returns what read() did.
ssize_t append_read(int descriptor, Bytes& into, std::size_t bytes_max) {
  // Not read into the text itself: mostly little or nothing comes, and room in a text is filled with zeros.
  alignas(64) static thread_local std::array<char, piece_bytes> buffer;
  ssize_t got = 0;
  do {
    got = ::read(descriptor, buffer.data(), std::min(bytes_max, buffer.size()));
  } while (got < 0 && errno == EINTR);
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got;
}

std::string last_of(const std::string& text, std::size_t bytes) {
  return text.substr(text.size() - std::min(text.size(), bytes));
}

Duration to_duration(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

ProcessExit::Cause cause_of(int signal_number) {
  switch (signal_number) {
    case SIGKILL:  // nobody does that to itself
      return ProcessExit::Cause::killed;
    case SIGXFSZ:
    case SIGXCPU:
      return ProcessExit::Cause::over_limit;
    default:
      return ProcessExit::Cause::crashed;
  }
}

ProcessExit ended_by(int signal_number) {
  const char* const description = ::sigdescr_np(signal_number);
  return {cause_of(signal_number), 0,
          "signal " + std::to_string(signal_number) + " (" +
              (description != nullptr ? description : "unknown") + ")"};
}

// `status`: as waitpid() tells it.
ProcessExit exit_of(int status, ExitCodes codes) {
  if (WIFSIGNALED(status)) return ended_by(WTERMSIG(status));
  const int own = WEXITSTATUS(status);
  if (codes == ExitCodes::relayed && own > 128 && own < 128 + NSIG) return ended_by(own - 128);
  return {ProcessExit::Cause::exited, own, {}};
}

class Child final : public Process {
 public:
  Child(int pid, ChildPipes pipes, ExitCodes codes)
      : pid_(pid), pipes_(std::move(pipes)), codes_(codes), clock_(TreeHandle(pid)) {}

  ~Child() override {
    if (exit_) return;
    end_tree();
    reap(0);
  }

  TreeHandle tree() const override { return TreeHandle(pid_); }
  Waitable output_waitable() const override { return Waitable(pipes_.output.get()); }

  Result<std::size_t> write_some(std::string_view bytes) override {
    if (!pipes_.input.valid())
      return Error{ErrorKind::io, "cannot write to the program: its input is already closed"};
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t put = write_without_signal(pipes_.input.get(), bytes.substr(written));
      if (put >= 0) {
        written += static_cast<std::size_t>(put);
      } else if (errno == EAGAIN) {
        break;
      } else if (errno == EPIPE) {
        return Error{ErrorKind::io, "the program has closed its standard input or ended"};
      } else if (errno != EINTR) {
        return system_error("write to the program", errno);
      }
    }
    return written;
  }

  void close_input() override { pipes_.input.reset(); }

  // Who waits for more has read until it would block: its error output is taken then, and no sooner.
  ReadKind read_some(Bytes& into, std::size_t bytes_max) override {
    const auto old_size = into.size();
    bool closed = !pipes_.output.valid();
    while (!closed && into.size() - old_size < bytes_max) {
      const std::size_t wanted = std::min(bytes_max - (into.size() - old_size), piece_bytes);
      const ssize_t got = append_read(pipes_.output.get(), into, wanted);
      if (got == static_cast<ssize_t>(wanted)) continue;
      if (got > 0 || (got < 0 && errno == EAGAIN)) break;  // a pipe gives all that it has
      closed = true;
    }
    if (into.size() > old_size) return ReadKind::data;
    drain_error();
    return closed ? ReadKind::closed : ReadKind::would_block;
  }

  std::string error_tail() override {
    drain_error();
    return last_of(errors_, error_tail_bytes);
  }

  std::int64_t error_bytes() const override { return error_bytes_; }

  std::string errors_since(std::int64_t offset) const override {
    return last_of(errors_, static_cast<std::size_t>(std::max<std::int64_t>(0, error_bytes_ - offset)));
  }

  std::optional<ProcessExit> poll_exit() override {
    drain_error();
    if (!exit_) reap(WNOHANG);
    return exit_;
  }

  void end_tree() override { signal_group(SIGKILL); }
  void suspend() override { signal_group(SIGSTOP); }
  void resume() override { signal_group(SIGCONT); }

  Duration cpu_time() const override {
    if (!exit_) cpu_time_ = std::max(cpu_time_, clock_.read().value_or(Duration{0}));
    return cpu_time_;
  }

 private:
  // The group exists for certain, and is ours, as long as its leader is not reaped.
  void signal_group(int signal_number) {
    if (!exit_) ::kill(-pid_, signal_number);
  }

  void reap(int flags) {
    const auto now = std::chrono::steady_clock::now();
    if (flags == 0 || now >= clock_due_) {
      (void)cpu_time();
      clock_due_ = now + clock_interval;
    }
    siginfo_t info{};
    int result = 0;
    do {
      info.si_pid = 0;
      result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | flags);
    } while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return;  // still running
    CHECK_TRUE(result == 0);                      // nobody else reaps our children
    ::kill(-pid_, SIGKILL);  // its own children go with it, while the group is still ours
    rusage usage{};
    int status = 0;
    while (::wait4(pid_, &status, 0, &usage) < 0) CHECK_TRUE(errno == EINTR);
    // What was killed with it, and not buried by it, is known from the last reading only.
    cpu_time_ = std::max(cpu_time_, to_duration(usage.ru_utime) + to_duration(usage.ru_stime));
    exit_ = exit_of(status, codes_);
  }

  void drain_error() {
    for (std::size_t drained = 0; pipes_.error.valid() && drained < drained_bytes_max;) {
      const ssize_t got = append_read(pipes_.error.get(), errors_, piece_bytes);
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) pipes_.error.reset();
      drained += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      error_bytes_ += std::max<ssize_t>(got, 0);
      if (errors_.size() > errors_kept_bytes) errors_.erase(0, errors_.size() - errors_kept_bytes);
    }
  }

  const int pid_;
  ChildPipes pipes_;
  ExitCodes codes_;
  std::string errors_;  // the last of them
  std::int64_t error_bytes_ = 0;
  std::optional<ProcessExit> exit_;
  mutable TreeClock clock_;
  std::chrono::steady_clock::time_point clock_due_{};
  mutable Duration cpu_time_{0};
};

}  // namespace

std::unique_ptr<Process> adopt_child(int pid, ChildPipes pipes, ExitCodes codes) {
  return std::make_unique<Child>(pid, std::move(pipes), codes);
}

}  // namespace gleaner::io
