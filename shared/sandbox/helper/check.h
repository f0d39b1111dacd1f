// Tries, from inside, what must not be possible. Silent and 0 if none of it was; else says what is open.
#pragma once

#include "shared/sandbox/helper/options.h"

namespace gleaner::sandbox {
[[nodiscard]] int check(const Options& options);
}
