// What a kernel holds, as far as it can be seen from outside: files in the directory that it writes to, and
// what it holds by descriptors alone. It changes meanwhile, and is made by somebody who wants to be missed or
// to be looked at for ever: nothing is followed, nothing grows with its depth, and everything is counted at
// most up to a bound. Thread-safe. Platform file: kernel_usage_linux.cpp.
#pragma once

#include <vector>

#include "client/host/machine.h"

namespace gleaner::platform {

// See host::Machine.
[[nodiscard]] host::DirectoryUsage directory_usage(const io::Path& directory, std::int64_t files_max);

// Of all threads, which may have descriptors of their own. `directory`: files of its file system count.
[[nodiscard]] host::DescriptorUse descriptor_use(const std::vector<int>& processes, const io::Path& proc,
                                                 const io::Path& directory);

}  // namespace gleaner::platform
