// Interpreters that kernels find on this computer: Python's version, the C library's and those of a few
// modules. A small script is started once, confined as a kernel; again when the interpreter's files change.
// It reports nothing else: no path, no name. Not thread-safe: the thread that starts kernels. Never fails: a
// computer whose interpreter does not answer has no capabilities.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/host/launcher.h"
#include "shared/base/clock.h"
#include "shared/io/files.h"

namespace gleaner::platform {

class Interpreters {
 public:
  static constexpr Duration patience = std::chrono::seconds{30};  // then the script is killed
  static constexpr Duration pause = std::chrono::minutes{10};     // before it is started again after that
  // Between two looks at the files, thousands with all libraries: at each wake-up of an idle client they took
  // 8 ms of processor time, and an exchange with the server without them takes 2.
  static constexpr Duration stamp_interval = std::chrono::minutes{10};

  // `place`: a directory of its own, made and removed. `slot`: a number that no kernel has. `root`: where the
  // files are that are looked at for changes. `launcher` and `files` must outlive this.
  Interpreters(host::Launcher& launcher, io::Files& files, io::Path place, int slot, io::Path root = "/");
  ~Interpreters();
  Interpreters(const Interpreters&) = delete;
  Interpreters& operator=(const Interpreters&) = delete;

  // Starts the script if files changed since the last look at them, and reads the answer of one under way.
  // Does not wait. True if the capabilities changed.
  bool look(SteadyTime now);
  // The same until the script under way has answered, but no longer than `most`.
  void wait(Clock& clock, Duration most);
  // As shared/base/capability.h has them, sorted: "glibc 2.36", "numpy 1.24", "python 3.11".
  [[nodiscard]] const std::vector<std::string>& capabilities() const { return capabilities_; }

 private:
  [[nodiscard]] Status start();
  [[nodiscard]] bool answered(SteadyTime now);
  [[nodiscard]] std::string stamp() const;
  [[nodiscard]] bool changed(SteadyTime now);

  host::Launcher& launcher_;
  io::Files& files_;
  host::KernelLaunch launch_;
  io::Path place_;
  io::Path root_;
  std::string stamp_;  // of the files when the script was started last
  std::unique_ptr<io::Process> process_;
  SteadyTime started_{};
  SteadyTime stamp_again_{};
  SteadyTime again_ = SteadyTime::max();  // it is started again then, without a change
  Bytes answer_;
  std::vector<std::string> capabilities_;
};

}  // namespace gleaner::platform
