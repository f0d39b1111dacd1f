// Starts kernels. Implemented in client/platform (sandbox.h). Called only from the engine's thread, which
// must outlive all kernels (they die with it).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/process.h"
#include "shared/sandbox/kernel_limits.h"
#include "shared/sandbox/runtime_files.h"

namespace gleaner::host {

struct KernelLaunch {
  int slot = 0;
  io::Path program;            // inside bundle_directory
  io::Path bundle_directory;   // readable
  io::Path problem_directory;  // readable: of one problem, with a directory for each of its stages
  io::Path slot_directory;     // writable, private, and the working directory
  int threads = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;
  sandbox::Runtime runtime = sandbox::Runtime::promised;  // what it finds on this computer
};

using sandbox::kernel_memory_max;
using sandbox::kernel_tasks_max;

// Of all its processes: each holds 64 KiB that no limit counts.
inline constexpr int kernel_pipes_max = 64;

class Launcher {
 public:
  virtual ~Launcher() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<io::Process>> start(const KernelLaunch& launch) = 0;
  // Kernels that start from now on run on these processors; none: on all.
  virtual void use_processors(const std::vector<int>&) {}
  // How a kernel so launched sees the directory of a stage of its problem.
  [[nodiscard]] virtual io::Path inside(const KernelLaunch&, const io::Path& stage) const { return stage; }
  // Where this computer finds what that kernel wrote; it may be gone with the kernel.
  [[nodiscard]] virtual io::Path written_by(const KernelLaunch& launch, const io::Process&) const {
    return launch.slot_directory;
  }
  // Whether the system ended a process of the slot's kernel, which wanted more memory than it may.
  [[nodiscard]] virtual bool out_of_memory(int) const { return false; }
  // The control group in which the slot's kernel is alone with all that it has started; empty: there is none.
  [[nodiscard]] virtual io::Path control_group(int) const { return {}; }
  // How kernels are confined, in a few words, for status and `why`.
  [[nodiscard]] virtual std::string describe() const = 0;
  // Why no kernel is started at all, and what to do; empty if they are.
  [[nodiscard]] virtual std::string refusal() const { return {}; }
};

}  // namespace gleaner::host
