#include "client/sandbox/filter.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "client/sandbox/options.h"

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
    "chmod", "fchmod", "fchmodat", "utime", "utimes", "utimensat", "futimesat", "umask", "dup", "dup2", "dup3",
    "fcntl", "flock", "ioctl", "statfs", "fstatfs", "sendfile", "splice", "tee", "copy_file_range", "readahead",
    "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    // pipes, waiting, and sockets that lead to itself (socket() is below)
    "pipe", "pipe2", "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
    "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
    "signalfd", "signalfd4", "sendmsg", "recvmsg", "sendto", "recvfrom", "shutdown", "getsockopt", "setsockopt",
    "getsockname", "getpeername",
    // memory
    "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock", "brk",
    "membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect", "get_mempolicy", "set_mempolicy", "mbind",
    // signals and time
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
    "sigaltstack", "pause", "alarm", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday",
    "time", "times", "getitimer", "setitimer", "timer_create", "timer_settime", "timer_gettime", "timer_delete",
    "timer_getoverrun", "restart_syscall",
    // processes and threads; priorities and sessions are the client's
    "fork", "vfork", "execve", "execveat", "wait4", "waitid", "exit", "exit_group", "getpid", "getppid", "gettid",
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getpgrp", "getpgid", "getsid",
    "getpriority", "getrusage", "getrlimit", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "sched_getparam", "sched_getscheduler", "sched_getattr", "sched_get_priority_max", "sched_get_priority_min",
    "sched_rr_get_interval", "getcpu", "futex", "futex_waitv", "set_robust_list", "get_robust_list",
    "set_tid_address", "rseq", "arch_prctl", "prctl", "capget", "uname", "sysinfo", "getrandom"};

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

void add_signals(scmp_filter_ctx filter, Signals signals) {
  for (const int number : {SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill)}) {
    if (signals == Signals::anyone) {
      rule_if(filter, SCMP_ACT_ALLOW, number);
    } else if (number != SCMP_SYS(tkill)) {
      rule_if(filter, SCMP_ACT_ALLOW, number, SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
    }
  }
}

void add_conditional(scmp_filter_ctx filter, std::uint32_t offence) {
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, new_namespaces, 0));
  rule_if(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
  // The C library asks a local name service for users: refused without ado. Any other family is an attempt.
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_BLUETOOTH, AF_VSOCK, AF_ALG})
    rule_if(filter, offence, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0));
#ifdef GLEANER_SANITIZED  // its run-time switches address randomisation off
  rule(filter, SCMP_ACT_ALLOW, "personality");
#else
  rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_EQ, 0xffffffff));
#endif
}

scmp_filter_ctx make_filter(Signals signals, std::uint32_t offence) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) give_up("cannot make a system-call filter");
  seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const char* name : allowed) rule(filter, SCMP_ACT_ALLOW, name);
  for (const char* name : offences) rule(filter, offence, name);
  add_signals(filter, signals);
  add_conditional(filter, offence);
  return filter;
}

}  // namespace

int enter_filter(Signals signals) {
  scmp_filter_ctx filter = make_filter(signals, SCMP_ACT_NOTIFY);
  int told = -1;
  if (seccomp_load(filter) == 0) {
    told = seccomp_notify_fd(filter);
  } else {
    seccomp_release(filter);
    filter = make_filter(signals, SCMP_ACT_KILL_PROCESS);
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
