// This computer's processors: what they are, and starting programs on some of them. Platform file:
// processors_linux.cpp.
#pragma once

#include <optional>
#include <vector>

#include "client/policy/core_choice.h"
#include "shared/io/files.h"

namespace gleaner::platform {

// Those that are online, below `sys` ("/sys"): /sys/devices/system/cpu as the kernel's
// Documentation/ABI/testing/sysfs-devices-system-cpu has it.
[[nodiscard]] std::vector<client_policy::Processor> processors_below(const io::Path& sys);

// While it lives, what the calling thread starts runs on these processors, as far as this process may use
// them; none, or none that it may: on all as before. Errors of the system are ignored: kernels then run on
// all.
class OnProcessors {
 public:
  explicit OnProcessors(const std::vector<int>& numbers);
  ~OnProcessors();
  OnProcessors(const OnProcessors&) = delete;
  OnProcessors& operator=(const OnProcessors&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing was changed
};

}  // namespace gleaner::platform
