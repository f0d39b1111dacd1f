// Landlock (linux/landlock.h, documented in the kernel's userspace-api/landlock.rst): which files a process
// and all its children may use, without privilege and for good.
#pragma once

#include "shared/sandbox/helper/options.h"

namespace gleaner::sandbox {

// 0: this kernel has none. 4 and up: TCP as well. 6 and up: signals and abstract sockets as well.
[[nodiscard]] int landlock_version();

// Confines the calling process to the options' paths. Paths that do not exist are left out. Ends the process
// if it fails. REQUIRES: landlock_version() > 0, no_new_privs set.
void enter_landlock(const Options& options);

}  // namespace gleaner::sandbox
