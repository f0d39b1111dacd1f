#include "client/platform/sandbox.h"
#include "client/platform/processors.h"

#include "shared/base/paths.h"
#include "shared/sandbox/kernel_limits.h"

namespace gleaner::platform {
namespace {

class PlainSandbox final : public Sandbox {
 public:
  PlainSandbox(Priority priority, std::string refusal) : priority_(priority), refusal_(std::move(refusal)) {}

  Result<io::ProcessSpec> confine(const host::KernelLaunch& launch) override {
    io::ProcessSpec spec = common_spec(launch, priority_, utf8_text(launch.slot_directory));
    spec.arguments = {utf8_text(launch.program)};
    spec.working_directory = launch.slot_directory;
    return spec;
  }

  std::string describe() const override {
    return std::string(
               "switched off by its owner: private directory, clean environment, limits on memory, files and "
               "disk") +
           (priority_ == Priority::idle ? ", lowest priority" : "");
  }
  std::string refusal() const override { return refusal_; }

 private:
  Priority priority_;
  std::string refusal_;
};

class ProcessLauncher final : public host::Launcher {
 public:
  ProcessLauncher(std::unique_ptr<Sandbox> sandbox, io::ProcessRunner& processes)
      : sandbox_(std::move(sandbox)), processes_(processes) {}

  Result<std::unique_ptr<io::Process>> start(const host::KernelLaunch& launch) override {
    if (const std::string refusal = sandbox_->refusal(); !refusal.empty())
      return Error{ErrorKind::io, refusal};
    TRY_ASSIGN(const io::ProcessSpec spec, sandbox_->confine(launch));
    const OnProcessors here(on_);  // what is started inherits it
    return processes_.start(spec);
  }
  void use_processors(const std::vector<int>& numbers) override { on_ = numbers; }
  io::Path inside(const host::KernelLaunch& launch, const io::Path& stage) const override {
    return sandbox_->inside(launch, stage);
  }
  io::Path written_by(const host::KernelLaunch& launch, const io::Process& process) const override {
    return sandbox_->written_by(launch, process);
  }
  bool out_of_memory(int slot) const override { return sandbox_->out_of_memory(slot); }
  io::Path control_group(int slot) const override { return sandbox_->control_group(slot); }
  std::string describe() const override { return sandbox_->describe(); }
  std::string refusal() const override { return sandbox_->refusal(); }

 private:
  std::unique_ptr<Sandbox> sandbox_;
  io::ProcessRunner& processes_;
  std::vector<int> on_;
};

}  // namespace

io::Path Sandbox::inside(const host::KernelLaunch&, const io::Path& stage) const {
  return stage;
}

io::ProcessSpec common_spec(const host::KernelLaunch& launch, Priority priority, const std::string& home) {
  io::ProcessSpec spec;
  spec.environment = {{"PATH", "/usr/bin:/bin"},
                      {"LANG", "C.UTF-8"},
                      {"HOME", home},
                      {"TMPDIR", home},
                      {"GLEANER_THREADS", std::to_string(launch.threads)},
                      // Numerical libraries take every core unless this says otherwise, and would be sliced.
                      {"OMP_NUM_THREADS", std::to_string(launch.threads)}};
#ifdef GLEANER_SANITIZED  // AddressSanitizer reserves terabytes of address space, and looks for leaks by
                          // ptrace
  spec.environment.emplace("ASAN_OPTIONS", "detect_leaks=0");
#else
  spec.limits.memory_bytes = host::kernel_memory_max(launch.memory_bytes, launch.threads);
#endif
  spec.limits.file_bytes = launch.disk_bytes;
  spec.limits.open_files = sandbox::kernel_open_files_max;
  if (priority == Priority::idle) spec.limits.priority = io::ProcessPriority::idle;
  return spec;
}

std::unique_ptr<Sandbox> make_plain_sandbox(Priority priority, const io::Path& state_root) {
  return std::make_unique<PlainSandbox>(priority, no_programs_in(state_root));
}

std::unique_ptr<host::Launcher> make_process_launcher(std::unique_ptr<Sandbox> sandbox,
                                                      io::ProcessRunner& processes) {
  return std::make_unique<ProcessLauncher>(std::move(sandbox), processes);
}

}  // namespace gleaner::platform
