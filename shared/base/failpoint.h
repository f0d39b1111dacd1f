// Named places of the commit path, at which a test's program may end, lose its power or be told that
// something failed. In all other programs the hook is null and nothing of it can be set from outside: a place
// costs the reading of one pointer. Names are of this program only and may change; tests/faults lists them.
// Thread-safe.
#pragma once

#include <atomic>

#include "shared/base/result.h"

namespace gleaner {

using FailpointHook = Status (*)(const char* name);

// Set by a test's main() before threads start (tests/faults/failpoints.cpp).
inline std::atomic<FailpointHook> failpoint_hook{nullptr};

// error: the place is to behave as if its next step had failed. Where nothing can fail any more the answer is
// dropped.
[[nodiscard]] inline Status failpoint(const char* name) {
  const FailpointHook hook = failpoint_hook.load(std::memory_order_relaxed);
  return hook == nullptr ? Status{} : hook(name);
}

}  // namespace gleaner
