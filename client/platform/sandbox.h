// How a kernel is confined: turns a launch into the process to start. The plain one gives it a private
// directory, a clean environment, resource limits and the lowest priority; a stronger one (namespaces,
// system-call filter) takes its place without anything else changing. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "client/engine/launcher.h"
#include "shared/io/process.h"

namespace gleaner::platform {

enum class Priority { idle, normal };

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  [[nodiscard]] virtual Result<io::ProcessSpec> confine(const engine::KernelLaunch& launch) const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
};

[[nodiscard]] std::unique_ptr<Sandbox> make_plain_sandbox(Priority priority);

// Starts kernels inside `sandbox` by `processes`, which must outlive it.
[[nodiscard]] std::unique_ptr<engine::Launcher> make_process_launcher(std::unique_ptr<Sandbox> sandbox,
                                                                      io::ProcessRunner& processes);

}  // namespace gleaner::platform
