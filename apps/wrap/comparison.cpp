#include "apps/wrap/comparison.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "apps/kit/problem.h"

namespace gleaner::wrap {
namespace {

constexpr std::size_t said_bytes_max = 4096;
constexpr std::size_t said_line_max = 200;
constexpr std::string_view python_raised = "Traceback (most recent call last)";  // it exits with 1 then
constexpr int look_milliseconds = 5;

// The read end of a pipe, and a process. The sandbox forbids groups: what that starts, and leaves running, is
// stopped with the manager (its contract: between an answer and the next command it stands still).
struct Running {
  pid_t child = 0;
  int output = -1;
};

Result<Running> start(const std::string& program, const std::string& one, const std::string& other) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
    return Error{ErrorKind::io, std::string("cannot make a pipe: ") + std::strerror(errno)};
  std::string words[] = {program, one, other};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  Running running;
  const int failure = ::posix_spawn(&running.child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  running.output = ends[0];
  if (failure == 0) return running;
  ::close(running.output);
  return Error{ErrorKind::io, "cannot start " + program + ": " + std::strerror(failure)};
}

// What it has printed so far, a pipe's worth at most; the beginning is kept.
void read_output(int output, std::string& said) {
  char bytes[65536];
  if (const ssize_t count = ::read(output, bytes, sizeof bytes); count > 0)
    said.append(bytes, std::min(static_cast<std::size_t>(count), said_bytes_max - said.size()));
}

// Its status; -1: it was still running at the end of the time.
int status_by(const Running& running, Comparison::Clock::time_point end, std::string& said) {
  for (;;) {
    int status = 0;
    const pid_t found = ::waitpid(running.child, &status, WNOHANG);
    read_output(running.output, said);
    if (found == running.child) return status;
    if ((found < 0 && errno != EINTR) || Comparison::Clock::now() >= end) return -1;
    pollfd output{running.output, POLLIN, 0};
    if (::poll(&output, 1, look_milliseconds) > 0 && (output.revents & POLLIN) == 0)
      ::poll(nullptr, 0, look_milliseconds);  // it has closed its output
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, said_line_max);
}

}  // namespace

Result<std::string> Comparison::run(const std::string& one, const std::string& other) const {
  const std::string name = program_.filename().string();
  const auto failed = [&](const std::string& how) { return std::string(failure_mark) + name + how; };
  const auto running = start(program_.string(), one, other);
  if (!running.ok()) return failed(": " + running.error().message);
  std::string said;
  const int status = status_by(*running, end_, said);
  if (status == -1) {
    ::kill(running->child, SIGKILL);
    int ignored = 0;
    while (::waitpid(running->child, &ignored, 0) < 0 && errno == EINTR) continue;
  }
  ::close(running->output);
  if (status == -1) return failed(" took too long");
  if (WIFSIGNALED(status)) return failed(" was killed by signal " + std::to_string(WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (code == 0) return std::string();
  if (said.starts_with(python_raised)) return failed(": " + last_line(said));
  const std::string line = said.substr(0, std::min(said.find('\n'), said_line_max));
  const std::string exited = " exited with status " + std::to_string(code);
  if (code != 1) return failed(exited + (line.empty() ? "" : ": " + line));
  return line.empty() ? name + exited : line;
}

Result<std::string> Comparison::of(const std::string& ending, std::string_view one,
                                   std::string_view other) const {
  const std::string first = "compare-1" + ending, second = "compare-2" + ending;
  TRY(kit::write_file(first, one));
  TRY(kit::write_file(second, other));
  auto difference = run(first, second);
  std::error_code ignored;
  std::filesystem::remove(first, ignored);
  std::filesystem::remove(second, ignored);
  return difference;
}

}  // namespace gleaner::wrap
