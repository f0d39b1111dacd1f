#include "shared/sandbox/helper/supervise.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "shared/sandbox/helper/filter.h"
#include "shared/sandbox/helper/landlock.h"

namespace gleaner::sandbox {
namespace {

constexpr int landlock_with_signals = 6;
constexpr char anybody[] = "gleaner";  // this computer's name to programs

// Whoever reads what this says is the caller: it is gone when nobody does.
bool is_orphan() {
  pollfd heard{STDERR_FILENO, 0, 0};
  return ::poll(&heard, 1, 0) > 0 && (heard.revents & (POLLERR | POLLHUP)) != 0;
}

// bubblewrap's, with a file system of its own: nothing in it outlives its process 1, which this one began as.
bool has_own_namespace() {
  static const bool own = ::getpid() == 1;
  return own;
}

// A change of user or of capabilities forgets the tie: tied again at once, and who died in between is
// noticed. Where processes of the program would outlive this one, they are ended first (watch()).
void tie_to_parent() {
  if (::prctl(PR_SET_PDEATHSIG, has_own_namespace() ? SIGKILL : SIGTERM) != 0)
    give_up("cannot tie its life to the caller's");
  if (is_orphan()) ::_exit(exit_cannot_confine);
}

void become_user(long user) {
  const auto id = static_cast<uid_t>(user);
  if (::setgroups(0, nullptr) != 0) give_up("cannot drop the groups");
  if (::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0)
    give_up("cannot become a user of its own");
  tie_to_parent();
  if (::setuid(0) == 0) {
    say("the superuser's rights were not lost");
    ::_exit(exit_cannot_confine);
  }
}

// What was needed for the file system and to become another user.
void drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) give_up("cannot give up capabilities");
}

// The system ends no process of another user with its parent (signal(7)), and the supervisor, which would
// notice, stands still in a pause. So process 1 stays bubblewrap's user, without rights, and its end is the
// namespace's. Returns in its child.
void leave_process_1() {
  tie_to_parent();
  const pid_t child = ::fork();
  if (child < 0) give_up("cannot start a process");
  if (child == 0) return;
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("cannot give up new privileges");
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::syscall(SYS_close_range, 3U, ~0U, 0);
  while (true) {
    int status = 0;
    const pid_t dead = ::waitpid(-1, &status, 0);
    if (dead == child) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    if (dead < 0 && errno != EINTR) ::_exit(exit_cannot_confine);
  }
}

// Whatever the kernel makes of its slot, it holds no more than this: unlinked files, unreadable directories
// and names without bytes count as well, at once, and all of it is gone with the kernel.
// Returns the checkpoint that was there, open; -1 without one.
int make_scratch(const Options& options) {
  constexpr int entries_max = 10'000;  // as the client counts them where the slot is a directory
  const std::string slot = options.write.front();
  const int given = ::open((slot + "/checkpoint").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (given < 0 && errno != ENOENT) give_up("cannot read the checkpoint");
  const long user = options.user > 0 ? options.user : static_cast<long>(::getuid());
  const long group = options.user > 0 ? options.user : static_cast<long>(::getgid());
  const std::string how = "mode=0700,size=" + std::to_string(options.scratch) +
                          ",nr_inodes=" + std::to_string(entries_max) + ",uid=" + std::to_string(user) +
                          ",gid=" + std::to_string(group);
  if (::mount("scratch", slot.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, how.c_str()) != 0)
    give_up("cannot make a file system in memory");
  return given;
}

// As the user whose file system it is.
void enter_scratch(const Options& options, int given) {
  if (::chdir(options.write.front().c_str()) != 0) give_up(options.write.front().c_str());
  if (given < 0) return;
  const int copy = ::open("checkpoint", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  static char piece[1 << 16];
  for (ssize_t got = 0; (got = ::read(given, piece, sizeof piece)) != 0;)
    if (got < 0 || ::write(copy, piece, static_cast<std::size_t>(got)) != got)
      give_up("cannot lay the checkpoint out");
  ::close(given);
  ::close(copy);
}

void limit(__rlimit_resource_t resource, long value) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  if (::setrlimit(resource, &both) != 0) give_up("cannot limit what the program may take");
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
  constexpr long signals_max = 256;  // queued, timers included: the system holds them
  limit(RLIMIT_SIGPENDING, signals_max);
  limit(RLIMIT_MSGQUEUE, 0);
  if (options.processes > 0) limit(RLIMIT_NPROC, options.processes);
  const int landlock = landlock_version();
  if (landlock > 0) {
    enter_landlock(options);
  } else if (!own_namespace) {
    say("this kernel has neither namespaces for us nor Landlock");
    ::_exit(exit_cannot_confine);
  }
  send_descriptor(kept, enter_filter({own_namespace || landlock >= landlock_with_signals, own_namespace,
                                      options.counted}));
  ::execv(options.program.front(), options.program.data());
  give_up(options.program.front());
}

// uname() without a namespace for it: what it says of the system, but not the computer's name.
int tell_names(int told, const seccomp_notif& request) {
  utsname names{};
  if (::uname(&names) != 0) return -errno;
  ::memset(names.nodename, 0, sizeof names.nodename);
  ::memset(names.domainname, 0, sizeof names.domainname);
  ::memcpy(names.nodename, anybody, sizeof anybody);
  const iovec from{&names, sizeof names};
  // The kernel takes addresses as numbers.
  const iovec to{reinterpret_cast<void*>(request.data.args[0]), sizeof names};
  if (seccomp_notify_id_valid(told, request.id) != 0) return -ESRCH;
  const ssize_t put = ::process_vm_writev(static_cast<pid_t>(request.pid), &from, 1, &to, 1, 0);
  return put == static_cast<ssize_t>(sizeof names) ? 0 : -EFAULT;
}

// An offence, or a question that is answered.
void hear(int told, pid_t program) {
  seccomp_notif* request = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (seccomp_notify_alloc(&request, &response) != 0) give_up("out of memory");
  if (seccomp_notify_receive(told, request) == 0) {
    if (request->data.nr == SYS_uname) {
      response->id = request->id;
      response->error = tell_names(told, *request);
      (void)seccomp_notify_respond(told, response);  // who asked may be gone
    } else {
      say("the program was ended for trying the system call " +
          name_of_call(request->data.arch, request->data.nr));
      ::kill(program, SIGKILL);
    }
  } else if (errno != EINTR && errno != ENOENT) {  // ENOENT: who asked is gone
    ::kill(program, SIGKILL);
  }
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

// Whatever the program has started is in the group that the caller made for this process: what is confined
// cannot leave it (filter.cpp).
[[noreturn]] void end_all(pid_t program) {
  ::kill(program, SIGKILL);
  if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
  ::_exit(exit_cannot_confine);
}

// `signals`: SIGCHLD, and when the caller is gone SIGTERM (tie_to_parent()), or SIGHUP where the group stood
// still and nobody is left to continue it.
[[noreturn]] void watch(pid_t program, int told, int signals) {
  // Nothing of the conversation stays open here.
  const int null = ::open("/dev/null", O_RDWR);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  } else {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
  }
  pollfd polled[3] = {{signals, POLLIN, 0}, {told, POLLIN, 0}, {STDERR_FILENO, 0, 0}};
  while (true) {
    if (::poll(polled, 3, -1) < 0 && errno != EINTR) give_up("cannot wait");
    if ((polled[2].revents & (POLLERR | POLLHUP)) != 0) end_all(program);  // so does the caller's absence
    signalfd_siginfo signal{};
    if (polled[0].revents != 0 && ::read(signals, &signal, sizeof signal) > 0) {
      if (signal.ssi_signo != SIGCHLD) end_all(program);
      reap(program);
    }
    if ((polled[1].revents & POLLIN) != 0) hear(told, program);
    if ((polled[1].revents & (POLLHUP | POLLERR)) != 0) polled[1].fd = -1;  // all filtered processes are gone
  }
}

}  // namespace

void supervise(const Options& options) {
  const int given = options.scratch > 0 ? make_scratch(options) : -1;
  if (options.user > 0 && has_own_namespace()) leave_process_1();
  if (options.user > 0) become_user(options.user);
  drop_capabilities();
  if (options.scratch > 0) enter_scratch(options, given);
  if (::geteuid() == 0) {
    say("no program is run as the superuser");
    ::_exit(exit_cannot_confine);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("cannot give up new privileges");
  tie_to_parent();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP}) sigaddset(&heard, signal);
  ::sigprocmask(SIG_BLOCK, &heard, nullptr);
  const int signals = ::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
  int sockets[2];
  if (signals < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    give_up("cannot prepare the supervisor");
  const bool own_namespace = has_own_namespace();
  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program < 0) give_up("cannot start a process");
  // Inside a namespace of its own the child sees its parent as process 1, outside as what it is.
  if (program == 0) become_program(options, sockets[1], self, own_namespace);
  ::close(sockets[1]);
  const int told = receive_descriptor(sockets[0]);
  ::close(sockets[0]);
  watch(program, told, signals);
}

}  // namespace gleaner::sandbox
