#include "client/sandbox/check.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace gleaner::sandbox {
namespace {

void expect(bool holds, const std::string& what, int& holes) {
  if (holds) return;
  say("a hole: " + what);
  ++holes;
}

bool can_open(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

}  // namespace

int check(const Options& options) {
  int holes = 0;
  for (const char* path : options.program)
    if (path != nullptr) expect(!can_open(path, O_RDONLY), std::string(path) + " can be opened", holes);
  expect(!can_open("/gleaner-sandbox-was-here", O_WRONLY | O_CREAT), "/ can be written to", holes);
  expect(can_open("gleaner-sandbox-check", O_WRONLY | O_CREAT), "the slot cannot be written to", holes);
  ::unlink("gleaner-sandbox-check");
  const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
  expect(local < 0 && errno == EPERM, "sockets can be made", holes);
  expect(::setpgid(0, 0) != 0, "it can leave its process group", holes);
  expect(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "it may gain privileges", holes);
  expect(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2, "system calls are not filtered", holes);
  expect(::geteuid() != 0, "it runs as the superuser", holes);
  return holes == 0 ? 0 : 1;
}

}  // namespace gleaner::sandbox
