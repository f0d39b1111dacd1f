// How a kernel is confined: turns a launch into the process to start. The strong one (sandbox_linux.cpp)
// gives it namespaces without network, a file system with nothing but the application, its libraries and its
// slot, a filter of system calls and limits; where bubblewrap cannot be used, Landlock takes the place of
// namespaces; where that cannot either, no kernel is started. The plain one, for owners who say so in words,
// leaves the owner's rights. Called from one thread.
#pragma once

#include <memory>
#include <string>

#include "client/host/launcher.h"
#include "shared/io/process.h"

namespace gleaner::platform {

enum class Priority { idle, normal };

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  // REQUIRES: refusal() is empty.
  [[nodiscard]] virtual Result<io::ProcessSpec> confine(const host::KernelLaunch& launch) = 0;
  // How the kernel sees a problem's directory.
  [[nodiscard]] virtual io::Path inside(const host::KernelLaunch& launch, const io::Path& problem) const;
  // See engine::Launcher.
  [[nodiscard]] virtual bool out_of_memory(int) const { return false; }
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual std::string refusal() const { return {}; }
};

// What the owner has to say to go without.
inline constexpr const char* sandbox_off = "off: I accept that kernels run with my rights";

[[nodiscard]] std::unique_ptr<Sandbox> make_plain_sandbox(Priority priority);

struct SandboxSettings {
  io::Path state_root;  // kernels see nothing of it but what is theirs
  Priority priority = Priority::idle;
  io::Path helper;      // gleaner-sandbox; empty: where it is installed, seen from this program
  io::Path bubblewrap;  // empty: where it is installed; "none": as if it were not
  bool use_cgroups = true;
};
// The strongest that this system permits, found out by trying; a few tens of milliseconds. Never fails: what
// cannot confine refuses. `processes` must outlive it.
[[nodiscard]] std::unique_ptr<Sandbox> make_sandbox(const SandboxSettings& settings,
                                                    io::ProcessRunner& processes);

// Starts kernels inside `sandbox` by `processes`, which must outlive it.
[[nodiscard]] std::unique_ptr<host::Launcher> make_process_launcher(std::unique_ptr<Sandbox> sandbox,
                                                                    io::ProcessRunner& processes);

// What every kernel gets, however it is confined: its environment and limits.
[[nodiscard]] io::ProcessSpec common_spec(const host::KernelLaunch& launch, Priority priority,
                                          const std::string& home);

}  // namespace gleaner::platform
