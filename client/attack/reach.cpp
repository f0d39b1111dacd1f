// Whom it may reach, and which powers it may get.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "client/attack/attacks.h"

namespace gleaner::attack {
namespace {

bool calls(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  return ::syscall(number, a, b, c, d, e) >= 0;
}

std::string call_network(const Target&) {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  if (made < 0) return "held: no socket";
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // Refused by a port that nobody listens at is reached, too.
  const bool reached = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
                       errno == ECONNREFUSED;
  return reached ? "open: this computer's own ports are reached" : "open: a socket was made";
}

std::string call_neighbours(const Target&) {
  Findings found;
  int pair[2];
  found.expect_not(::socket(AF_UNIX, SOCK_STREAM, 0) >= 0, "local sockets");
  found.expect_not(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "pairs of sockets");
  found.expect_not(calls(SYS_shmget, 0, 4096, 01600), "System V shared memory");
  found.expect_not(calls(SYS_msgget, 0, 01600), "System V messages");
  found.expect_not(calls(SYS_mq_open, reinterpret_cast<long>("gleaner"), O_CREAT | O_RDWR, 0600, 0),
                   "POSIX messages");
  return found.text();
}

std::string signal_others(const Target& target) {
  Findings found;
  found.expect_not(::kill(static_cast<pid_t>(target.client), 0) == 0 && ::getpid() != target.client,
                   "the client");
  const int file = ::open("signals", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  found.expect_not(file >= 0 && ::fcntl(file, F_SETOWN, static_cast<int>(target.client)) == 0,
                   "by way of a file's owner");
  found.expect_not(calls(SYS_pidfd_open, target.client), "by way of a descriptor");
  return found.text();
}

std::string see_processes(const Target& target) {
  Findings found;
  const std::string process = "/proc/" + std::to_string(target.client);
  char link[256];
  found.expect_not(::readlink((process + "/exe").c_str(), link, sizeof link) > 0,
                   "which program the client is");
  const int status = ::open((process + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  // In a namespace of its own that number is nobody, or itself.
  found.expect_not(status >= 0 && ::getpid() != target.client && ::read(status, &byte, 1) == 1,
                   "others' command lines");
  return found.text();
}

std::string gain_powers(const Target&) {
  Findings found;
  found.expect_not(::geteuid() == 0 || ::setuid(0) == 0, "the superuser");
  found.expect_not(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "programs with more rights");
  found.expect_not(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "to hide from the client");
  found.expect_not(calls(SYS_io_uring_setup, 1, 0), "io_uring");
  found.expect_not(calls(SYS_memfd_create, reinterpret_cast<long>("x"), 0), "memory without a limit's name");
  found.expect_not(calls(SYS_userfaultfd, 0), "userfaultfd");
  found.expect_not(calls(SYS_setxattr, reinterpret_cast<long>("."), reinterpret_cast<long>("user.x"),
                         reinterpret_cast<long>("x"), 1, 0),
                   "extended attributes");
  const int file = ::open("flags", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  long flags = 0;
  found.expect_not(file >= 0 && ::ioctl(file, _IOR('f', 1, long), &flags) == 0, "a file's flags");
  return found.text();
}

// Where core dumps go through a pipe, the system runs the reader as the superuser, for each crash: only a
// limit of 1 says that there is to be none.
std::string dump_core(const Target&) {
  Findings found;
  rlimit core{};
  found.expect_not(::getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 1 || core.rlim_max != 1,
                   "core dumps into a pipe");
  core = {0, 0};
  found.expect_not(::setrlimit(RLIMIT_CORE, &core) == 0, "another limit");
  found.expect_not(::prlimit(0, RLIMIT_CORE, &core, nullptr) == 0, "another limit by prlimit");
  found.expect_not(calls(SYS_setrlimit, RLIMIT_CORE, reinterpret_cast<long>(&core)), "by the old call");
  return found.text();
}

std::string evade_pause(const Target&) {
  Findings found;
  found.expect_not(::setsid() >= 0, "a session of its own");
  found.expect_not(::setpgid(0, 0) == 0, "a process group of its own");
  found.expect_not(::setpriority(PRIO_PROCESS, 0, 0) == 0, "another priority");
  const sched_param none{};
  found.expect_not(::sched_setscheduler(0, SCHED_OTHER, &none) == 0, "another scheduling class");
  // Any of these from a process that the pause reaches a moment later, or by an event, would end it.
  siginfo_t information{};
  information.si_code = SI_QUEUE;
  const long self = ::getpid();
  found.expect_not(calls(SYS_kill, 0, SIGCONT), "to continue its group");
  found.expect_not(calls(SYS_kill, self, SIGCONT) || calls(SYS_kill, self, SIGCONT | 1L << 40),
                   "to continue itself");
  found.expect_not(calls(SYS_tgkill, self, self, SIGCONT) || calls(SYS_tkill, self, SIGCONT), "a thread");
  found.expect_not(calls(SYS_rt_sigqueueinfo, self, SIGCONT, reinterpret_cast<long>(&information)),
                   "by a queue");
  const int file = ::open("signals", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  found.expect_not(::fcntl(file, F_SETSIG, SIGCONT) == 0, "by a file's signal");
  found.expect_not(::fcntl(file, F_SETLEASE, F_RDLCK) == 0, "by a lease");
  found.expect_not(::fcntl(file, F_NOTIFY, DN_CREATE) == 0, "by a watched directory");
  long context = 0;
  found.expect_not(calls(SYS_io_setup, 1, reinterpret_cast<long>(&context)),
                   "by input and output that go on");
  return found.text();
}

template <long number>
std::string offend(const Target&) {
  return calls(number, 0, 0, 0, 0, 0) || errno != EPERM ? "open: the call was made" : "held: refused";
}

}  // namespace

std::vector<Attack> attacks_by_reach() {
  return {{"use the network", true, call_network},
          {"reach other programs", false, call_neighbours},
          {"send signals to others", false, signal_others},
          {"see other processes", false, see_processes},
          {"gain powers", false, gain_powers},
          {"dump core", false, dump_core},
          {"evade the pause and the priority", false, evade_pause},
          {"trace processes", true, offend<SYS_ptrace>},
          {"mount", true, offend<SYS_mount>},
          {"make namespaces", true, offend<SYS_unshare>},
          {"load code into the system (bpf)", true, offend<SYS_bpf>},
          {"use the system's keys", true, offend<SYS_keyctl>},
          {"open files by handle", true, offend<SYS_open_by_handle_at>}};
}

}  // namespace gleaner::attack
