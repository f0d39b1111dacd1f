#include "client/sandbox/supervise.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "client/sandbox/filter.h"
#include "client/sandbox/landlock.h"

namespace gleaner::sandbox {
namespace {

constexpr int landlock_with_signals = 6;

void become_user(long user) {
  const auto id = static_cast<uid_t>(user);
  if (::setgroups(0, nullptr) != 0) give_up("cannot drop the groups");
  if (::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0)
    give_up("cannot become the kernels' own user");
  if (::setuid(0) == 0) {
    say("the superuser's rights were not lost");
    ::_exit(exit_cannot_confine);
  }
}

void send_descriptor(int socket, int descriptor) {
  char byte = descriptor >= 0 ? '1' : '0';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    ::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (::sendmsg(socket, &message, 0) != 1) give_up("cannot reach the supervisor");
}

// -1 if none came: it failed and has said why, or this system cannot tell of offences.
int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  int descriptor = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message); header != nullptr)
    ::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

[[noreturn]] void become_program(const Options& options, int socket, pid_t supervisor, bool own_namespace) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up("cannot tie its life to the supervisor's");
  if (::getppid() != supervisor) ::_exit(exit_cannot_confine);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Whatever the supervisor may have inherited.
  const int kept = ::dup2(socket, 3);
  ::fcntl(kept, F_SETFD, FD_CLOEXEC);
  if (::syscall(SYS_close_range, 4U, ~0U, 0) != 0) give_up("cannot close descriptors");
  if (options.processes > 0) {
    const rlimit limit{static_cast<rlim_t>(options.processes), static_cast<rlim_t>(options.processes)};
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) give_up("cannot limit the number of processes");
  }
  const int landlock = landlock_version();
  if (landlock > 0) {
    enter_landlock(options);
  } else if (!own_namespace) {
    say("this kernel has neither namespaces for us nor Landlock");
    ::_exit(exit_cannot_confine);
  }
  const bool bounded = own_namespace || landlock >= landlock_with_signals;
  send_descriptor(kept, enter_filter(bounded ? Signals::anyone : Signals::self_only));
  ::execv(options.program.front(), options.program.data());
  give_up(options.program.front());
}

void note_offence(int told, pid_t program) {
  seccomp_notif* request = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (seccomp_notify_alloc(&request, &response) != 0) give_up("out of memory");
  if (seccomp_notify_receive(told, request) == 0)
    say("the kernel was ended for trying the system call " +
        name_of_call(request->data.arch, request->data.nr));
  ::kill(program, SIGKILL);
  seccomp_notify_free(request, response);
}

// Collects all that died; the program's own end is ours.
void reap(pid_t program) {
  int status = 0;
  while (true) {
    const pid_t dead = ::waitpid(-1, &status, WNOHANG);
    if (dead <= 0) return;
    if (dead != program) continue;
    if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
    ::_exit(128 + WTERMSIG(status));
  }
}

[[noreturn]] void watch(pid_t program, int told, int deaths) {
  // Nothing of the conversation stays open here.
  const int null = ::open("/dev/null", O_RDWR);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  } else {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
  }
  pollfd polled[3] = {{deaths, POLLIN, 0}, {told, POLLIN, 0}, {STDERR_FILENO, 0, 0}};
  while (true) {
    if (::poll(polled, 3, -1) < 0 && errno != EINTR) give_up("cannot wait");
    if ((polled[2].revents & (POLLERR | POLLHUP)) != 0) {  // the client is gone, and all this with it
      ::kill(program, SIGKILL);
      ::_exit(exit_cannot_confine);
    }
    signalfd_siginfo ignored{};
    if (polled[0].revents != 0 && ::read(deaths, &ignored, sizeof ignored) > 0) reap(program);
    if ((polled[1].revents & POLLIN) != 0) note_offence(told, program);
    if ((polled[1].revents & (POLLHUP | POLLERR)) != 0) polled[1].fd = -1;  // all filtered processes are gone
  }
}

}  // namespace

void supervise(const Options& options) {
  if (options.user > 0) become_user(options.user);
  if (::geteuid() == 0) {
    say("kernels are never run as the superuser");
    ::_exit(exit_cannot_confine);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("cannot give up new privileges");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // again: a change of user forgets it
  const bool own_namespace = ::getpid() == 1;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  const int deaths = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  int sockets[2];
  if (deaths < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    give_up("cannot prepare the supervisor");
  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program < 0) give_up("cannot start a process");
  // Inside a namespace of its own the child sees its parent as process 1, outside as what it is.
  if (program == 0) become_program(options, sockets[1], self, own_namespace);
  ::close(sockets[1]);
  const int told = receive_descriptor(sockets[0]);
  ::close(sockets[0]);
  watch(program, told, deaths);
}

}  // namespace gleaner::sandbox
