// Starts kernels. Implemented in client/platform (sandbox.h). Called only from the engine's thread, which
// must outlive all kernels (they die with it).
#pragma once

#include <memory>
#include <string>

#include "shared/base/result.h"
#include "shared/io/process.h"

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
};

// How much memory a kernel may hold for which the manifest says `manifest_bytes`: all its processes together,
// and the address space of each. Address space is not memory: a thread's stack alone reserves 8 MiB and an
// allocator's arena 64 MiB.
[[nodiscard]] constexpr std::int64_t kernel_memory_max(std::int64_t manifest_bytes, int threads) {
  return manifest_bytes + (std::int64_t{256} << 20) + (std::int64_t{80} << 20) * (threads - 1);
}

// Of all its processes: each holds 64 KiB that no limit counts.
inline constexpr int kernel_pipes_max = 64;

// How many processes and threads a kernel may have, what starts and supervises it included.
[[nodiscard]] constexpr int kernel_tasks_max(int threads) {
  return 32 + 2 * threads;
}

class Launcher {
 public:
  virtual ~Launcher() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<io::Process>> start(const KernelLaunch& launch) = 0;
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
