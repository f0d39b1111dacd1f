// Directories that kernels wrote to, when they are no longer needed. A client must go on without those that
// cannot be removed.
#pragma once

#include "shared/base/random.h"
#include "shared/io/files.h"

namespace gleaner::engine {

// `directory` is gone after it, with all that is in it: removed or, where the system refuses that, renamed to
// a name beside it that the log tells. io: neither could be done.
[[nodiscard]] Status remove_or_set_aside(io::Files& files, Random& random, const io::Path& directory);

// Removes what earlier calls set aside beside it, as far as it can be removed now.
void remove_set_aside(io::Files& files, const io::Path& directory);

}  // namespace gleaner::engine
