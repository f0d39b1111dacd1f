#include "shared/sandbox/helper/filter.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "shared/sandbox/helper/options.h"

namespace gleaner::sandbox {
namespace {

// clang-format off
constexpr const char* allowed[] = {
    // files by descriptor and by path: which ones is Landlock's and the mounts' matter
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "close",
    "close_range", "lseek", "open", "openat", "openat2", "creat", "stat", "fstat", "lstat", "newfstatat", "statx",
    "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir",
    "fchdir", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
    "symlink", "symlinkat", "truncate", "ftruncate", "fallocate", "fsync", "fdatasync", "sync_file_range", "fadvise64",
    "umask", "dup", "dup2", "dup3", "flock", "sendfile", "splice", "tee", "copy_file_range",
    "readahead", "fgetxattr", "flistxattr",
    // pipes and waiting; there is no way to make a socket, and sendmsg hands our own over to the supervisor
    "pipe", "pipe2", "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
    "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
    "signalfd", "signalfd4", "sendmsg",
    // memory (mmap is below)
    "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock", "brk",
    "membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect", "get_mempolicy", "set_mempolicy", "mbind",
    // signals and time; alarm and setitimer send SIGALRM, SIGVTALRM or SIGPROF, and none of them wakes what is stopped
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
    "sigaltstack", "pause", "alarm", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday",
    "time", "times", "getitimer", "setitimer", "restart_syscall",
    // processes and threads; priorities and sessions are the client's
    "fork", "vfork", "execve", "execveat", "wait4", "waitid", "exit", "exit_group", "getpid", "getppid", "gettid",
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getpgrp", "getpgid", "getsid",
    "getpriority", "getrusage", "getrlimit", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "sched_getparam", "sched_getscheduler", "sched_getattr", "sched_get_priority_max", "sched_get_priority_min",
    "sched_rr_get_interval", "getcpu", "futex", "futex_waitv", "set_robust_list", "get_robust_list",
    "set_tid_address", "rseq", "arch_prctl", "capget", "sysinfo", "getrandom"};

// By path, or by the descriptor of a file that may only be read: they change or show what Landlock does not guard.
constexpr const char* unguarded[] = {"chmod", "fchmod", "fchmodat", "utime", "utimes", "utimensat", "futimesat",
                                     "getxattr", "lgetxattr", "listxattr", "llistxattr"};

// Of calls that do many things, what computing needs; each number is the argument at this place.
constexpr scmp_datum_t terminal_questions[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};
// No larger pipes, no signals to others, no watching of directories.
constexpr scmp_datum_t descriptor_commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL,
                                                F_GETLK, F_OFD_GETLK, F_GETPIPE_SZ, F_GETOWN};
// The system holds each lock of a range, and there may be any number.
constexpr scmp_datum_t range_locks[] = {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW};
// Not PR_SET_DUMPABLE: who measures a kernel must see its descriptors. PR_SET_PDEATHSIG is below.
constexpr scmp_datum_t own_settings[] = {PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME,
                                         PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK,
                                         PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS,
                                         PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE,
                                         0x53564d41 /* PR_SET_VMA: allocators name their memory */};

// No computation calls these: who does is trying something.
constexpr const char* offences[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "mount", "umount2", "pivot_root",
    "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "setns", "unshare",
    "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "open_by_handle_at", "acct", "iopl", "ioperm",
    "settimeofday", "clock_settime", "sethostname", "setdomainname", "quotactl", "vhangup", "syslog", "bind", "listen"};
// clang-format on

constexpr unsigned new_namespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// A call that this architecture does not have needs no rule.
void rule(scmp_filter_ctx filter, std::uint32_t action, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return;
  if (seccomp_rule_add(filter, action, number, 0) != 0 && number >= 0) give_up(name);
}

template <typename... Conditions>
void rule_if(scmp_filter_ctx filter, std::uint32_t action, int number, Conditions... conditions) {
  if (seccomp_rule_add(filter, action, number, sizeof...(conditions), conditions...) != 0)
    give_up("cannot make the system-call filter");
}

template <std::size_t count>
void allow_only(scmp_filter_ctx filter, int number, unsigned argument, const scmp_datum_t (&values)[count]) {
  for (const scmp_datum_t value : values)
    rule_if(filter, SCMP_ACT_ALLOW, number, scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0});
}

// Allows any signal but SIGCONT at place `argument`. The caller pauses by SIGSTOP, and SIGCONT alone undoes
// that, even from a process that stops a moment later. A filter cannot say "not this number", and the system
// looks at the lower half of the register only: so a rule for each bit that tells a signal (1 to 64) from
// SIGCONT.
template <typename... Conditions>
void allow_signals(scmp_filter_ctx filter, int number, unsigned argument, Conditions... more) {
  for (scmp_datum_t bit = 1; bit <= 64; bit <<= 1)
    rule_if(filter, SCMP_ACT_ALLOW, number,
            scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, bit, ~static_cast<scmp_datum_t>(SIGCONT) & bit},
            more...);
}

void add_signals(scmp_filter_ctx filter, bool bounded) {
  const auto self = SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid()));
  if (bounded) {
    allow_signals(filter, SCMP_SYS(kill), 1);
    allow_signals(filter, SCMP_SYS(tkill), 1);
    allow_signals(filter, SCMP_SYS(tgkill), 2);
  } else {
    allow_signals(filter, SCMP_SYS(kill), 1, self);
    allow_signals(filter, SCMP_SYS(tgkill), 2, self);
  }
}

// A process whose timer or limit kills it ends even while it is stopped, and then its parent and its children
// get signals: of their choice, but not SIGCONT.
void add_signals_of_ends(scmp_filter_ctx filter) {
  allow_signals(filter, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG));
  constexpr scmp_datum_t looked_at = new_namespaces | CSIGNAL;
  for (const scmp_datum_t to_parent : {scmp_datum_t{SIGCHLD}, scmp_datum_t{0}})  // 0: threads
    rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, looked_at, to_parent));
}

// Memory that processes share without a file is held by the system, in no process's name, once it is not
// mapped any more: only where that is counted.
void add_memory(scmp_filter_ctx filter, bool counted) {
  constexpr scmp_datum_t both = MAP_SHARED | MAP_ANONYMOUS;
  if (counted) return rule(filter, SCMP_ACT_ALLOW, "mmap");
  for (const scmp_datum_t one : {scmp_datum_t{0}, scmp_datum_t{MAP_SHARED}, scmp_datum_t{MAP_ANONYMOUS}})
    rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), SCMP_A3(SCMP_CMP_MASKED_EQ, both, one));
}

void add_conditional(scmp_filter_ctx filter, const Surroundings& surroundings, std::uint32_t offence) {
  if (surroundings.files_of_its_own)
    for (const char* name : unguarded) rule(filter, SCMP_ACT_ALLOW, name);
  allow_only(filter, SCMP_SYS(ioctl), 1, terminal_questions);
  allow_only(filter, SCMP_SYS(fcntl), 1, descriptor_commands);
  if (surroundings.memory_counted) allow_only(filter, SCMP_SYS(fcntl), 1, range_locks);
  allow_only(filter, SCMP_SYS(prctl), 0, own_settings);
  add_signals(filter, surroundings.signals_bounded);
  add_memory(filter, surroundings.memory_counted);
  add_signals_of_ends(filter);
  rule_if(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  // Its signal may be SIGCONT, and only memory says which it is. `timeout` and others make do with alarm()
  // then.
  rule_if(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(timer_create));
  // The C library asks a local name service for users: refused without ado. Any other family is an attempt.
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_BLUETOOTH, AF_VSOCK, AF_ALG})
    rule_if(filter, offence, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
  // Its own limits; but not of core dumps, of which 0 would be more than the 1 that it has.
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0),
          SCMP_A1(SCMP_CMP_NE, RLIMIT_CORE));
  // Programs that give up rights which they do not have, as gnuplot does: to be who one is already changes
  // nothing, and is not done.
  rule_if(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(setuid), SCMP_A0(SCMP_CMP_EQ, ::getuid()));
  rule_if(filter, SCMP_ACT_ERRNO(0), SCMP_SYS(setgid), SCMP_A0(SCMP_CMP_EQ, ::getgid()));
  // They tell a number that the file system has for good; as if the system were too old to have them.
  for (const int number : {SCMP_SYS(statfs), SCMP_SYS(fstatfs)})
    rule_if(filter, SCMP_ACT_ERRNO(ENOSYS), number);
  // The host name: another one in a namespace; else the supervisor answers, where it is asked.
  rule_if(filter,
          surroundings.files_of_its_own ? SCMP_ACT_ALLOW
          : offence == SCMP_ACT_NOTIFY  ? SCMP_ACT_NOTIFY
                                        : SCMP_ACT_ERRNO(EPERM),
          SCMP_SYS(uname));
#ifdef GLEANER_SANITIZED  // its run-time switches address randomisation off
  rule(filter, SCMP_ACT_ALLOW, "personality");
#else
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_EQ, 0xffffffff));
#endif
}

scmp_filter_ctx make_filter(const Surroundings& surroundings, std::uint32_t offence) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) give_up("cannot make a system-call filter");
  seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const char* name : allowed) rule(filter, SCMP_ACT_ALLOW, name);
  for (const char* name : offences) rule(filter, offence, name);
  add_conditional(filter, surroundings, offence);
  return filter;
}

}  // namespace

int enter_filter(const Surroundings& surroundings) {
  scmp_filter_ctx filter = make_filter(surroundings, SCMP_ACT_NOTIFY);
  int told = -1;
  if (seccomp_load(filter) == 0) {
    told = seccomp_notify_fd(filter);
  } else {
    seccomp_release(filter);
    filter = make_filter(surroundings, SCMP_ACT_KILL_PROCESS);
    if (seccomp_load(filter) != 0) give_up("cannot filter system calls");
  }
  seccomp_release(filter);
  return told;
}

std::string name_of_call(unsigned architecture, int number) {
  char* const name = seccomp_syscall_resolve_num_arch(architecture, number);
  if (name == nullptr) return "system call " + std::to_string(number);
  std::string text = name;
  ::free(name);
  return text;
}

}  // namespace gleaner::sandbox
