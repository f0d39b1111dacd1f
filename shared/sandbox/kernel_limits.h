// What a kernel may hold, wherever it is confined: on a donor's computer, and on its author's, where it is
// tried in the same way. Pure.
#pragma once

#include <cstdint>

namespace gleaner::sandbox {

// How much memory a kernel may hold for which the manifest says `manifest_bytes`: all its processes together,
// and the address space of each. Address space is not memory: a thread's stack alone reserves 8 MiB and an
// allocator's arena 64 MiB.
[[nodiscard]] constexpr std::int64_t kernel_memory_max(std::int64_t manifest_bytes, int threads) {
  return manifest_bytes + (std::int64_t{256} << 20) + (std::int64_t{80} << 20) * (threads - 1);
}

// How many processes and threads a kernel may have, what starts and supervises it included.
[[nodiscard]] constexpr int kernel_tasks_max(int threads) {
  return 32 + 2 * threads;
}

inline constexpr int kernel_open_files_max = 64;  // the system holds something for each of each process

// Where it sees what is its own, in a file system of its own.
inline constexpr const char* kernel_bundle = "/app";
inline constexpr const char* kernel_slot = "/slot";  // its working directory, too

}  // namespace gleaner::sandbox
