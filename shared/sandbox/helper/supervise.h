// Confines and starts the program, and stays beside it: collects the dead, ends the program on the first
// offence against the filter, and says what happened. One thread, no allocation worth mentioning, asleep all
// the time.
#pragma once

#include "shared/sandbox/helper/options.h"

namespace gleaner::sandbox {
[[noreturn]] void supervise(const Options& options);
}
