#include <malloc.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>

#include "client/platform/daemon_process.h"
#include "shared/base/check.h"

namespace gleaner::platform {
namespace {

int listen_for_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  CHECK_TRUE(::sigprocmask(SIG_BLOCK, &set, nullptr) == 0);
  ::signal(SIGPIPE, SIG_IGN);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

StopRequests::StopRequests() : waitable_(listen_for_signals()) {
  CHECK_TRUE(waitable_.valid());
}

StopRequests::~StopRequests() {
  ::close(static_cast<int>(waitable_.native()));
}

bool StopRequests::arrived() const {
  signalfd_siginfo info{};
  return ::read(static_cast<int>(waitable_.native()), &info, sizeof info) == sizeof info;
}

void tell_ready() {
  ::sd_notify(0, "READY=1");
}

void tell_stopping() {
  ::sd_notify(0, "STOPPING=1");
}

void keep_memory_small() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

void return_memory() {
  ::malloc_trim(0);
}

// The superuser's kernels run as others.
void let_kernels_read() {
  if (::geteuid() == 0) ::umask(0022);
}

io::Path runtime_directory() {
  const char* const named = std::getenv("RUNTIME_DIRECTORY");
  return named == nullptr ? io::Path() : io::Path(named);
}

void end_at_once(int status) {
  ::_exit(status);
}

}  // namespace gleaner::platform
