// Kernels that are sliced (cpu_share.h) take turns, so that the load is even. Rules: a kernel whose debt is
// paid begins if fewer run than their shares allow together; else it waits until one stops, a slice at most,
// since one that runs may not use what it may (of many with small shares some still run at once); of those
// that wait the one with the most credit is next.
// Pure. Cost: O(kernels).
#pragma once

#include <optional>
#include <span>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

// A kernel that is not paused.
struct SlicedKernel {
  int threads = 1;
  bool runs = false;
  bool waits = false;   // for its turn
  Duration balance{0};  // CpuShare::balance()
};

// Must a kernel wait that would begin now? `beginner`: its place in `all`; `share`: of each thread.
[[nodiscard]] bool must_wait(std::span<const SlicedKernel> all, std::size_t beginner, double share);

// One stopped: the place of the kernel that begins in its stead; nothing: none waits.
[[nodiscard]] std::optional<std::size_t> next_turn(std::span<const SlicedKernel> all);

}  // namespace gleaner::client_policy
