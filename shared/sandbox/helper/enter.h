// What is done outside, before the sandbox is built.
#pragma once

#include "shared/sandbox/helper/options.h"

namespace gleaner::sandbox {
[[noreturn]] void enter(const Options& options);
}
