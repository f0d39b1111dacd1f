// How a kernel is confined: turns a launch into the process to start. The strong one (sandbox_linux.cpp)
// gives it namespaces without network, a file system with nothing but the application, its libraries and its
// slot, a filter of system calls and limits. Where bubblewrap cannot be used no kernel is started, unless the
// owner accepts in words that Landlock takes the place of namespaces: it cannot hide names, sizes and times
// of files. The plain one, for owners who say that in words, leaves the owner's rights. Called from one
// thread.
//
// A slot whose manifest asks for no more than scratch_bytes_max is a file system in memory of just that size
// (and 10,000 files): nothing else counts what a kernel holds without a name. Measured: a directory that is
// looked at once a second held 180 MB for that second where 4 MB were allowed. Memory is the price, so larger
// slots are directories that are looked at.
#pragma once

#include <memory>
#include <optional>
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
  // How the kernel sees the directory of a stage of its problem.
  [[nodiscard]] virtual io::Path inside(const host::KernelLaunch& launch, const io::Path& stage) const;
  // See host::Launcher.
  [[nodiscard]] virtual io::Path written_by(const host::KernelLaunch& launch, const io::Process&) const {
    return launch.slot_directory;
  }
  [[nodiscard]] virtual bool out_of_memory(int) const { return false; }
  [[nodiscard]] virtual io::Path control_group(int) const { return {}; }
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual std::string refusal() const { return {}; }
};

// What the owner has to say to go without, and to make do with Landlock where nothing better can be made.
inline constexpr const char* sandbox_off = "off: I accept that kernels run with my rights";
inline constexpr const char* sandbox_weak =
    "weak: I accept that kernels see names, sizes and times of my files";

[[nodiscard]] std::unique_ptr<Sandbox> make_plain_sandbox(Priority priority, const io::Path& state_root = {});

// Why no program can be started from the state directory, and what to do; empty: they can.
[[nodiscard]] std::string no_programs_in(const io::Path& state_root);

struct SandboxSettings {
  io::Path state_root;  // kernels see nothing of it but what is theirs
  Priority priority = Priority::idle;
  io::Path helper;      // gleaner-sandbox; empty: where it is installed, seen from this program
  io::Path bubblewrap;  // empty: where it is installed; "none": as if it were not
  bool use_cgroups = true;
  bool accept_weak = false;          // the owner said sandbox_weak
  std::optional<int> landlock = {};  // the version that this system is taken to have; none: its own
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
