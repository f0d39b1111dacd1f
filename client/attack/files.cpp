// What it may see and change.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "client/attack/attacks.h"

namespace gleaner::attack {
namespace {

bool opens(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string read_files(const Target& target) {
  Findings found;
  for (const std::string& path :
       {std::string("/etc/passwd"), std::string("/etc/shadow"), std::string("/var/log"), std::string("/home"),
        std::string("/root"), std::string("/proc/1/environ"), std::string("/proc/kcore"),
        "/proc/" + std::to_string(target.client) + "/environ", target.file, directory_of(target.file)})
    found.expect_not(opens(path, O_RDONLY), path);
  (void)::symlink(target.file.c_str(), "link");
  (void)::symlink("/", "top");
  found.expect_not(opens("link", O_RDONLY), "through a link");
  found.expect_not(opens("top" + target.file, O_RDONLY), "through a link to /");
  found.expect_not(opens("../../../../.." + target.file, O_RDONLY), "by way of ..");
  return found.text();
}

// A kernel serves the stages of one problem.
std::string read_other_problems(const Target& target) {
  Findings found;
  found.expect_not(opens(target.other_problem, O_RDONLY), "its file");
  const std::string beside =
      target.other_problem.substr(directory_of(directory_of(target.other_problem)).size());
  found.expect_not(opens(target.problem + "/../.." + beside, O_RDONLY), "beside its own");
  return found.text();
}

// Names, numbers and addresses by which this computer or its owner could be found again.
std::string identify(const Target& target) {
  Findings found;
  for (const char* path : {"/etc/machine-id",
                           "/etc/hostname",
                           "/etc/hosts",
                           "/etc/passwd",
                           "/etc/fstab",
                           "/etc/resolv.conf",
                           "/var/lib/dbus/machine-id",
                           "/sys/class/dmi/id",
                           "/sys/class/net",
                           "/sys/block",
                           "/run",
                           "/proc/sys/kernel/random/boot_id",
                           "/proc/sys/kernel/hostname",
                           "/proc/self/mountinfo",
                           "/proc/self/mounts",
                           "/proc/self/mountstats",
                           "/proc/self/cgroup",
                           "/proc/self/uid_map",
                           "/proc/self/loginuid",
                           "/proc/self/attr/current",
                           "/proc/thread-self/mountinfo",
                           "/proc/self/task",
                           "/proc/cmdline",
                           "/proc/interrupts",
                           "/proc/softirqs",
                           "/proc/stat",
                           "/proc/schedstat",
                           "/proc/timer_list",
                           "/proc/uptime",
                           "/proc/loadavg",
                           "/proc/vmstat",
                           "/proc/meminfo",
                           "/proc/diskstats",
                           "/proc/partitions",
                           "/proc/mdstat",
                           "/proc/swaps",
                           "/proc/modules",
                           "/proc/iomem",
                           "/proc/devices",
                           "/proc/bus",
                           "/proc/bus/pci/devices",
                           "/proc/bus/input/devices",
                           "/proc/asound",
                           "/proc/driver",
                           "/proc/net/dev",
                           "/proc/net/arp",
                           "/proc/fs",
                           "/proc"})
    found.expect_not(opens(path, O_RDONLY), path);
  utsname names{};
  found.expect_not(::uname(&names) == 0 && target.host_name == names.nodename, "the host name");
  struct statfs facts {};
  // Derived from the file system's UUID.
  found.expect_not(::statfs("/app", &facts) == 0 || ::statfs(".", &facts) == 0, "the file systems' numbers");
  const int here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  found.expect_not(here >= 0 && ::fstatfs(here, &facts) == 0, "a file system's number by a descriptor");
  return found.text();
}

std::string see_names(const Target& target) {
  Findings found;
  struct stat facts {};
  found.expect_not(::stat(target.file.c_str(), &facts) == 0, "size and times of a file");
  found.expect_not(::access(target.file.c_str(), F_OK) == 0, "whether a file exists");
  found.expect_not(::access("/proc/bus/pci", F_OK) == 0, "whether there are devices");
  found.expect_not(static_cast<long>(::getuid()) == target.user, "which user owns them");
  return found.text();
}

std::string write_files(const Target& target) {
  Findings found;
  for (const std::string& path :
       {target.file, std::string("/gleaner-attack"), directory_of(target.file) + "/gleaner-attack",
        std::string("/proc/sys/kernel/core_pattern")})
    found.expect_not(opens(path, O_WRONLY | O_CREAT), path);
  found.expect_not(::truncate(target.file.c_str(), 0) == 0, "truncate");
  found.expect_not(opens(target.file, O_RDONLY | O_TRUNC), "open and truncate");
  found.expect_not(::unlink(target.file.c_str()) == 0, "remove");
  found.expect_not(::rename(target.file.c_str(), "mine") == 0, "move away");
  found.expect_not(::link(target.file.c_str(), "mine") == 0, "link");
  return found.text();
}

std::string change_permissions(const Target& target) {
  Findings found;
  const char* const file = target.file.c_str();
  found.expect_not(::chmod(file, 0777) == 0, "chmod");
  found.expect_not(::fchmodat(AT_FDCWD, file, 0777, 0) == 0, "fchmodat");
  found.expect_not(::chown(file, ::getuid(), ::getgid()) == 0, "chown");
  found.expect_not(::utimensat(AT_FDCWD, file, nullptr, 0) == 0, "times");
  found.expect_not(::setxattr(file, "user.gleaner", "x", 1, 0) == 0, "attributes");
  // By a descriptor: what may be read is not the kernel's either.
  if (const int self = ::open("/app/gleaner-attack", O_RDONLY | O_CLOEXEC); self >= 0)
    found.expect_not(::fchmod(self, 0777) == 0, "fchmod of its own program");
  if (const int self = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC); self >= 0)
    found.expect_not(::fchmod(self, 0777) == 0, "fchmod of its own program");
  return found.text();
}

std::string make_devices(const Target&) {
  Findings found;
  found.expect_not(::mknod("null", S_IFCHR | 0600, makedev(1, 3)) == 0, "a device");
  found.expect_not(::mknod("fifo", S_IFIFO | 0600, 0) == 0, "a named pipe");
  found.expect_not(::mknod("socket", S_IFSOCK | 0600, 0) == 0, "a socket");
  return found.text();
}

std::string execute_own(const Target&) {
  Findings found;
  const int file = ::open("program", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  if (file < 0 || ::write(file, "#!/bin/true\n", 12) != 12) return "held: nothing could be written";
  (void)::fchmod(file, 04755);
  ::close(file);
  const pid_t child = ::fork();
  if (child == 0) {
    char* const arguments[] = {const_cast<char*>("program"), nullptr};
    ::execv("./program", arguments);
    ::_exit(errno == EACCES || errno == EPERM ? 99 : 98);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "held: it could not even fork";
  found.expect_not(!WIFEXITED(status) || WEXITSTATUS(status) != 99, "a program that it wrote was started");
  return found.text();
}

std::string see_environment(const Target&) {
  Findings found;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, ::strcspn(*entry, "="));
    bool known = false;
    for (const char* one :
         {"PATH", "LANG", "HOME", "TMPDIR", "GLEANER_THREADS", "OMP_NUM_THREADS", "ASAN_OPTIONS", "PWD"})
      known = known || name == one;
    found.expect_not(!known, "the variable " + name);
  }
  for (int descriptor = 3; descriptor < 1024; ++descriptor)
    found.expect_not(::fcntl(descriptor, F_GETFD) >= 0, "descriptor " + std::to_string(descriptor));
  return found.text();
}

}  // namespace

std::vector<Attack> attacks_on_files() {
  return {{"read files of others", false, read_files},
          {"read other problems", false, read_other_problems},
          {"identify this computer or its owner", false, identify},
          {"see names, sizes and times of files", false, see_names},
          {"write, truncate, remove files of others", false, write_files},
          {"change permissions, times, attributes of others' files", false, change_permissions},
          {"make devices, named pipes, sockets", false, make_devices},
          {"execute what it wrote", false, execute_own},
          {"see the client's environment and descriptors", false, see_environment}};
}

}  // namespace gleaner::attack
