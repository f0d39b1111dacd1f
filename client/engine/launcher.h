// Starting kernels, as the engine sees it; implemented in client/platform (sandbox.h). Called from the
// engine's thread only, which must be the thread that lives longest (kernels die with it).
#pragma once

#include <memory>
#include <string>

#include "shared/base/result.h"
#include "shared/io/process.h"

namespace gleaner::engine {

struct KernelLaunch {
  io::Path program;           // inside bundle_directory
  io::Path bundle_directory;  // readable
  io::Path
      problems_directory;   // readable: every problem directory that the kernel may be told to use is in it
  io::Path slot_directory;  // writable, private, and the working directory
  int threads = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<io::Process>> start(const KernelLaunch& launch) = 0;
  // How kernels are confined, in a few words, for status and `why`.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace gleaner::engine
