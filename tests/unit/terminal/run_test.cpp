#include "shared/terminal/run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "shared/terminal/print.h"
#include "tests/catch.h"

namespace gleaner::terminal {
namespace {

struct End {
  int status = 0;
  std::string said;
};

// A program in a process of its own; standard error is read.
End end_of(const std::function<int()>& program) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::_exit(run("gleaner-test", program, 7));
  }
  ::close(ends[1]);
  End end;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    end.said.append(bytes, static_cast<std::size_t>(got));
  ::close(ends[0]);
  REQUIRE(::waitpid(child, &end.status, 0) == child);
  return end;
}

}  // namespace

TEST_CASE("A program that throws ends with a sentence and its status", "[terminal]") {
  const End end = end_of([]() -> int {
    throw std::filesystem::filesystem_error("cannot set permissions", "/state",
                                            std::make_error_code(std::errc::read_only_file_system));
  });
  CHECK((WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7));
  CHECK(end.said == "gleaner-test: /state: Read-only file system\n");
}

TEST_CASE("So does one that throws in a thread of its own", "[terminal]") {
  const End end = end_of([] {
    std::thread([] { throw std::runtime_error("out of threads\x1b[2J"); }).join();
    return 0;
  });
  CHECK((WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7));
  CHECK(end.said == "gleaner-test: out of threads [2J\n");
}

TEST_CASE("Where the system starts no more threads, the limits are named", "[terminal]") {
  const End end = end_of([]() -> int { throw std::system_error(EAGAIN, std::generic_category()); });
  CHECK((WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7));
  CHECK(end.said ==
        "gleaner-test: the system starts no more threads: raise the limit of processes or of memory (ulimit "
        "-u, "
        "ulimit -v)\n");
}

TEST_CASE("What standard output does not take is a failure, unless its reader has gone", "[terminal]") {
  const auto print_to = [](int descriptor) {
    return end_of([descriptor] {
      ::dup2(descriptor, STDOUT_FILENO);
      ::signal(SIGPIPE, SIG_IGN);
      print("what somebody waits for\n");
      return 0;
    });
  };
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  const End unwritten = print_to(full);
  ::close(full);
  CHECK((WIFEXITED(unwritten.status) && WEXITSTATUS(unwritten.status) == 7));
  CHECK(unwritten.said ==
        "gleaner-test: standard output does not take all that was printed: is its disk full?\n");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const End unread = print_to(ends[1]);
  ::close(ends[1]);
  CHECK((WIFEXITED(unread.status) && WEXITSTATUS(unread.status) == 0));
  CHECK(unread.said.empty());
}

TEST_CASE("A stream that was closed is open on nothing, so that no file takes its place", "[terminal]") {
  const End end = end_of([] {
    ::close(STDOUT_FILENO);
    ::close(STDIN_FILENO);
    return run("gleaner-test", [] { return ::dup(STDERR_FILENO) > STDERR_FILENO ? 0 : 1; });
  });
  CHECK((WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0));
}

}  // namespace gleaner::terminal
