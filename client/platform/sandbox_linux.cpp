// Kernels in the sandbox of Linux (shared/sandbox): what of the client's state each sees, and its limits.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "client/platform/cgroup.h"
#include "client/platform/helpers.h"
#include "client/platform/machine_facts.h"
#include "client/platform/sandbox.h"
#include "shared/io/files.h"
#include "shared/io/process_tree.h"
#include "shared/sandbox/confinement.h"
#include "shared/sandbox/kernel_limits.h"

namespace gleaner::platform {
namespace {

using sandbox::Walls;

constexpr std::int64_t scratch_bytes_max = 256 << 20;
constexpr std::int64_t scratch_memory_part = 16;  // of this computer's memory at most

class LinuxSandbox final : public Sandbox {
 public:
  LinuxSandbox(SandboxSettings settings, Walls walls, int landlock)
      : settings_(std::move(settings)), walls_(walls), landlock_(landlock), superuser_(::geteuid() == 0) {
    if (settings_.use_cgroups) cgroups_ = std::make_unique<Cgroups>(settings_.priority == Priority::idle);
  }

  Result<io::ProcessSpec> confine(const host::KernelLaunch& launch) override {
    return confine_program(launch, program(launch));
  }

  Result<io::ProcessSpec> confine_program(const host::KernelLaunch& launch,
                                          std::vector<std::string> program) {
    if (std::string lack = sandbox::missing_interpreter(launch.program); !lack.empty())
      return Error{ErrorKind::not_found, std::move(lack)};
    const bool namespaces = walls_.namespaces;
    const std::string slot = namespaces ? sandbox::kernel_slot : launch.slot_directory.string();
    io::ProcessSpec spec = common_spec(launch, settings_.priority, slot);
    spec.working_directory = namespaces ? io::Path("/") : launch.slot_directory;
    const unsigned user = superuser_ ? sandbox::drawn_user(random_) : 0;
    if (superuser_ && ::chown(launch.slot_directory.c_str(), user, user) != 0)
      return Error{ErrorKind::io, "cannot give " + launch.slot_directory.string() + " to the kernels' user"};
    // So that it can save its item again. Not followed: an earlier kernel may have made it a link.
    if (const io::Path saved = launch.slot_directory / "checkpoint";
        superuser_ && ::lchown(saved.c_str(), user, user) != 0 && errno != ENOENT)
      return Error{ErrorKind::io, "cannot give " + saved.string() + " to the kernels' user"};
    spec.relays_exit = true;
    const bool scratch = has_scratch(launch);
    sandbox::Confined confined;
    confined.program = std::move(program);
    confined.runtime = sandbox::runtime_files(launch.program, launch.runtime);
    confined.readable = {{launch.bundle_directory, sandbox::kernel_bundle},
                         {launch.problem_directory, "/problem"}};
    confined.writable = {launch.slot_directory, sandbox::kernel_slot};
    confined.tmp = true;
    confined.user = user;
    confined.processes = host::kernel_tasks_max(launch.threads);
    if (scratch) confined.scratch_bytes = launch.disk_bytes;
    const std::int64_t memory = host::kernel_memory_max(launch.memory_bytes, launch.threads);
    if (cgroups_)
      confined.cgroups = cgroups_->prepare(launch.slot, memory + confined.scratch_bytes, confined.processes);
    confined.memory_counted = cgroups_ && cgroups_->count_memory();  // as far as prepare() could
    spec.arguments = sandbox::command_line(tools(), walls_, confined);
    return spec;
  }

  io::Path inside(const host::KernelLaunch& launch, const io::Path& stage) const override {
    if (!walls_.namespaces) return stage;
    return "/problem" / stage.lexically_relative(launch.problem_directory);
  }

  // In the supervisor's view: it is there as long as the kernel, and has no other child of bubblewrap beside
  // it.
  io::Path written_by(const host::KernelLaunch& launch, const io::Process& process) const override {
    if (!has_scratch(launch)) return launch.slot_directory;
    const std::vector<int> all = io::ProcessTree().processes(process.tree());
    const auto supervisor = all.size() > 1 ? all[1] : process.tree().native();
    return io::Path("/proc") / std::to_string(supervisor) / "root/slot";
  }

  bool out_of_memory(int slot) const override { return cgroups_ && cgroups_->out_of_memory(slot); }
  io::Path control_group(int slot) const override {
    return cgroups_ ? cgroups_->control_group(slot) : io::Path();
  }

  std::string describe() const override {
    std::string text = !walls_.namespaces
                           ? "Landlock and a system-call filter, without namespaces (" + why_no_namespaces_ +
                                 "), as its owner accepts: names, sizes and times of files are not hidden"
                           : "namespaces without network, a file system of its own" +
                                 std::string(walls_.scratch ? ", a slot in memory" : "") +
                                 std::string(landlock_ > 0 ? ", Landlock" : "") + ", a system-call filter";
    text += ", limits on memory, processes, files and disk";
    if (cgroups_ && !cgroups_->none()) text += ", " + cgroups_->describe();
    if (superuser_) text += ", users of their own";
    return text + (settings_.priority == Priority::idle ? ", lowest priority" : "");
  }

  // Runs the whole way in with a program that tries the walls. Empty if they hold, else what stands against
  // it.
  [[nodiscard]] std::string check(io::ProcessRunner& processes) {
    host::KernelLaunch launch;
    const io::Path place = settings_.state_root / "slots" / "check";
    launch.bundle_directory = place / "bundle";
    launch.problem_directory = place / "problem";
    launch.program = settings_.helper;
    launch.memory_bytes = 64 << 20;
    launch.disk_bytes = 1 << 20;
    const auto walled = [&](const sandbox::Trial& trial) -> Result<io::ProcessSpec> {
      for (const io::Path& directory : {launch.bundle_directory, launch.problem_directory})
        TRY(io::real_files().make_directories(directory));
      launch.slot_directory = trial.directory;
      return confine_program(launch, trial.program);
    };
    return sandbox::try_walls(
        processes, io::real_files(), tools(), walls_, place,
        {walled, [&](const io::Process& process) { return written_by(launch, process); }});
  }

  void say_why_no_namespaces(std::string reason) { why_no_namespaces_ = std::move(reason); }

 private:
  [[nodiscard]] sandbox::Tools tools() const { return {settings_.helper, settings_.bubblewrap}; }

  [[nodiscard]] bool has_scratch(const host::KernelLaunch& launch) const {
    static const std::int64_t memory = make_machine()->memory_bytes();
    return walls_.scratch && launch.disk_bytes > 0 &&
           launch.disk_bytes <= std::min(scratch_bytes_max, memory / scratch_memory_part);
  }

  [[nodiscard]] std::vector<std::string> program(const host::KernelLaunch& launch) const {
    if (!walls_.namespaces) return {launch.program.string()};
    return {(sandbox::kernel_bundle / launch.program.lexically_relative(launch.bundle_directory)).string()};
  }

  SandboxSettings settings_;
  Walls walls_;
  int landlock_;
  bool superuser_;
  Random random_{std::random_device{}()};
  std::unique_ptr<Cgroups> cgroups_;
  std::string why_no_namespaces_;
};

class RefusingSandbox final : public Sandbox {
 public:
  explicit RefusingSandbox(std::string refusal) : refusal_(std::move(refusal)) {}
  Result<io::ProcessSpec> confine(const host::KernelLaunch&) override {
    return Error{ErrorKind::io, refusal()};
  }
  std::string describe() const override { return "none can be made: " + refusal_; }
  std::string refusal() const override { return refusal_; }

 private:
  std::string refusal_;
};

std::unique_ptr<Sandbox> nothing_confines(const std::string& reason, const std::string& remedy,
                                          const char* words = sandbox_off) {
  return std::make_unique<RefusingSandbox>("kernels cannot be confined on this computer (" + reason + "): " +
                                           remedy + ", or accept the risk with sandbox = \"" + words + "\"");
}

}  // namespace

std::string no_programs_in(const io::Path& state_root) {
  struct statvfs facts {};
  if (::statvfs(state_root.c_str(), &facts) != 0 || (facts.f_flag & ST_NOEXEC) == 0) return {};
  return "programs cannot be started from " + state_root.string() +
         ": its file system is mounted with noexec; mount it with exec, or choose another directory with "
         "--state";
}

std::unique_ptr<Sandbox> make_sandbox(const SandboxSettings& wanted, io::ProcessRunner& processes) {
  SandboxSettings settings = wanted;
  if (std::string refusal = no_programs_in(settings.state_root); !refusal.empty())
    return std::make_unique<RefusingSandbox>(std::move(refusal));
  if (settings.helper.empty()) settings.helper = find_helper("gleaner-sandbox");
  if (settings.helper.empty())
    return nothing_confines("the program gleaner-sandbox is missing beside gleaner-client",
                            "install the client again");
  if (settings.bubblewrap.empty()) settings.bubblewrap = sandbox::find_bubblewrap();
  if (settings.bubblewrap == "none") settings.bubblewrap.clear();
  const int landlock = settings.landlock.value_or(sandbox::landlock_version());
  std::unique_ptr<LinuxSandbox> tried;
  const auto found = sandbox::find_walls(
      {settings.helper, settings.bubblewrap}, landlock,
      settings.accept_weak ? sandbox::LandlockAlone::accepted : sandbox::LandlockAlone::refused,
      [&](const Walls& walls) {
        tried.reset();  // its control groups, before the next one's
        tried = std::make_unique<LinuxSandbox>(settings, walls, landlock);
        return tried->check(processes);
      });
  if (!found.walls)
    return nothing_confines(found.reason, found.remedy, found.may_be_weak ? sandbox_weak : sandbox_off);
  tried->say_why_no_namespaces(found.reason);
  return tried;
}

}  // namespace gleaner::platform
