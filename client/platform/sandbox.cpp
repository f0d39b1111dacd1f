#include "client/platform/sandbox.h"

namespace gleaner::platform {
namespace {

// Address space is not memory: a thread's stack alone reserves 8 MiB and an allocator's arena 64 MiB.
[[maybe_unused]] constexpr std::int64_t address_space_slack = std::int64_t{256} << 20;
[[maybe_unused]] constexpr std::int64_t address_space_per_thread = std::int64_t{80} << 20;

class PlainSandbox final : public Sandbox {
 public:
  explicit PlainSandbox(Priority priority) : priority_(priority) {}

  Result<io::ProcessSpec> confine(const engine::KernelLaunch& launch) const override {
    io::ProcessSpec spec;
    spec.arguments = {launch.program.string()};
    spec.working_directory = launch.slot_directory;
    spec.environment = {{"PATH", "/usr/bin:/bin"},
                        {"LANG", "C.UTF-8"},
                        {"HOME", launch.slot_directory.string()},
                        {"TMPDIR", launch.slot_directory.string()},
                        {"GLEANER_THREADS", std::to_string(launch.threads)}};
#ifndef GLEANER_SANITIZED  // AddressSanitizer reserves terabytes of address space
    spec.limits.address_space_bytes =
        launch.memory_bytes + address_space_slack + address_space_per_thread * (launch.threads - 1);
#endif
    spec.limits.file_bytes = launch.disk_bytes;
    spec.limits.nice = priority_ == Priority::idle ? 19 : 0;
    spec.limits.idle_class = priority_ == Priority::idle;
    return spec;
  }

  std::string describe() const override {
    return std::string("private directory, clean environment, limits on memory, files and disk") +
           (priority_ == Priority::idle ? ", lowest priority" : "") + "; no sandbox";
  }

 private:
  Priority priority_;
};

class ProcessLauncher final : public engine::Launcher {
 public:
  ProcessLauncher(std::unique_ptr<Sandbox> sandbox, io::ProcessRunner& processes)
      : sandbox_(std::move(sandbox)), processes_(processes) {}

  Result<std::unique_ptr<io::Process>> start(const engine::KernelLaunch& launch) override {
    TRY_ASSIGN(const io::ProcessSpec spec, sandbox_->confine(launch));
    return processes_.start(spec);
  }
  std::string describe() const override { return sandbox_->describe(); }

 private:
  std::unique_ptr<Sandbox> sandbox_;
  io::ProcessRunner& processes_;
};

}  // namespace

std::unique_ptr<Sandbox> make_plain_sandbox(Priority priority) {
  return std::make_unique<PlainSandbox>(priority);
}

std::unique_ptr<engine::Launcher> make_process_launcher(std::unique_ptr<Sandbox> sandbox,
                                                        io::ProcessRunner& processes) {
  return std::make_unique<ProcessLauncher>(std::move(sandbox), processes);
}

}  // namespace gleaner::platform
