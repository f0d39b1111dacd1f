#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/platform/group_limits.h"
#include "client/platform/machine_facts.h"
#include "client/platform/proc_files.h"
#include "shared/crypto/keys.h"

namespace gleaner::platform {
namespace {

std::string first_line(const io::Path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // empty if there is none: callers fall back
  return line;
}

class LinuxMachine final : public host::Machine {
 public:
  explicit LinuxMachine(SystemRoots roots) : roots_(std::move(roots)) {}

  // Cpusets are in the affinity.
  int cores() const override {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cores = computer_cores();
    if (::sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    const double whole = std::ceil(quota());
    return std::max(1, whole < cores ? static_cast<int>(whole) : cores);
  }

  int computer_cores() const override {
    return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  }

  double quota() const override { return group_limits(roots_.proc, roots_.cgroup).processors; }

  std::int64_t memory_bytes() const override {
    const std::int64_t all = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    return std::min(all, group_limits(roots_.proc, roots_.cgroup).memory_bytes);
  }

  std::string host_name() const override {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unnamed";
    return name.data();
  }

  std::string machine_digest(const std::string& project) const override {
    std::string id = first_line(roots_.etc / "machine-id");
    if (id.empty()) id = "name:" + host_name();
    return crypto::machine_digest(project, id);
  }

  std::vector<std::string> platforms() const override {
    utsname facts{};
    if (::uname(&facts) != 0) return {};
    return {std::string(facts.machine) + "-linux"};
  }

  double runnable_jobs() const override {
    std::istringstream line(first_line(roots_.proc / "loadavg"));
    double load = 0;
    return line >> load ? load : 0;
  }

  host::ProcessorTime processor_time() const override {
    const auto ticks = processor_ticks(roots_.proc);
    return ticks ? host::ProcessorTime{ticks->busy(), ticks->all()} : host::ProcessorTime{};
  }

  std::optional<double> memory_in_use() const override {
    const auto available = available_memory(roots_.proc);
    if (!available) return std::nullopt;
    return 1 - *available;
  }

  io::TreeUse use(io::TreeHandle tree) const override { return io::ProcessTree(roots_.proc).use(tree); }

  host::DirectoryUsage usage(const io::Path& directory, std::int64_t files_max) const override {
    return sandbox::directory_usage(directory, files_max);
  }

  host::DescriptorUse descriptors(io::TreeHandle tree, const io::Path& directory) const override {
    return sandbox::descriptor_use(io::ProcessTree(roots_.proc).processes(tree), roots_.proc, directory);
  }

  std::int64_t memory_kills() const override {
    std::ifstream counts(roots_.proc / "vmstat");
    std::int64_t count = 0;
    for (std::string name; counts >> name >> count;)
      if (name == "oom_kill") return count;
    return 0;
  }

  void lower_thread_priority() const override {
    // On Linux the number is the thread's. Not fatal: the benchmark counts CPU time, not wall time.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19);
  }

 private:
  SystemRoots roots_;
};

}  // namespace

std::unique_ptr<host::Machine> make_machine(SystemRoots roots) {
  return std::make_unique<LinuxMachine>(std::move(roots));
}

}  // namespace gleaner::platform
