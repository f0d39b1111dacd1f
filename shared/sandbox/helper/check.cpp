#include "shared/sandbox/helper/check.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
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

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct all[2] = {};
  if (::syscall(SYS_capget, &header, all) != 0) return true;
  return (all[0].permitted | all[1].permitted | all[0].inheritable | all[1].inheritable) != 0;
}

// The client looks at what was written, and lets go of it.
void wait_for_client() {
  char byte = 0;
  if (::write(STDOUT_FILENO, "ready\n", 6) == 6)
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
}

}  // namespace

int check(const Options& options) {
  int holes = 0;
  for (const char* path : options.program) {
    if (path == nullptr) continue;
    expect(!can_open(path, O_RDONLY), std::string(path) + " can be opened", holes);
    expect(::chmod(path, 0700) != 0, std::string(path) + " can be given other permissions", holes);
    expect(::utimensat(AT_FDCWD, path, nullptr, 0) != 0, std::string(path) + " can be given another time",
           holes);
  }
#ifndef GLEANER_SANITIZED  // they may read more
  for (const char* path : {"/proc/self/mountinfo", "/proc/sys/kernel/random/boot_id", "/proc/interrupts"})
    expect(!can_open(path, O_RDONLY), std::string(path) + " can be opened", holes);
#endif
  utsname names{};
  expect(::uname(&names) == 0 && std::string("gleaner") == names.nodename, "it learns the host name", holes);
  struct statfs facts {};
  expect(::statfs(".", &facts) != 0, "it learns which file system this is", holes);
  rlimit core{};
  // 0: who started it has seen that no pipe is fed (shared/io/process_linux.cpp).
  expect(::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur <= 1 && core.rlim_max <= 1,
         "it can dump core into a pipe", holes);
  expect(!can_open("/gleaner-sandbox-was-here", O_WRONLY | O_CREAT), "/ can be written to", holes);
  expect(can_open("gleaner-sandbox-check", O_WRONLY | O_CREAT), "the slot cannot be written to", holes);
  int pair[2];
  expect(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0, "pairs of sockets can be made", holes);
  const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
  expect(local < 0 && errno == EPERM, "sockets can be made", holes);
  expect(::setpgid(0, 0) != 0, "it can leave its process group", holes);
  expect(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "it may gain privileges", holes);
  expect(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2, "system calls are not filtered", holes);
  expect(::geteuid() != 0, "it runs as the superuser", holes);
  expect(!has_capabilities(), "it has capabilities", holes);
  wait_for_client();
  ::unlink("gleaner-sandbox-check");
  return holes == 0 ? 0 : 1;
}

}  // namespace gleaner::sandbox
