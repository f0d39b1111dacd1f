// Removes a directory with all that is in it, whatever a program that is not trusted made of it: directories
// without permissions are opened first, links are removed and not followed, and neither memory nor
// descriptors nor the length of a path grow with the depth. Private to this module. Platform file:
// remove_tree_linux.cpp.
#pragma once

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::io {

// Absent is success; true: something was there. io: something is left, with what stood against it. REQUIRES:
// nothing else changes the tree meanwhile.
[[nodiscard]] Result<bool> remove_tree(const Path& path);

}  // namespace gleaner::io
