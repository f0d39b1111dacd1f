// What a confined program holds, as far as it can be seen from outside: files in the directory that it writes
// to, and what it holds by descriptors alone. It changes meanwhile, and is made by somebody who wants to be
// missed or to be looked at for ever: nothing is followed, nothing grows with its depth, and everything is
// counted at most up to a bound. Thread-safe. Platform file: usage_linux.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/io/files.h"

namespace gleaner::sandbox {

// What lies in a directory that it writes to.
struct DirectoryUsage {
  std::int64_t bytes = 0;  // blocks held
  std::int64_t files = 0;
  bool hidden = false;  // it has directories that cannot be read, or deeper ones than are looked into
};

// What processes hold by descriptors.
struct DescriptorUse {
  std::int64_t removed_bytes = 0;  // of files that have no name any more
  bool removed_mappings = false;   // of such files that no descriptor shows: their size cannot be seen
  int pipes = 0;
};

// Walks the tree, 64 levels deep; stops counting at `files_max` entries: 10,000 take 15 ms of processor time.
[[nodiscard]] DirectoryUsage directory_usage(const io::Path& directory, std::int64_t files_max);

// Of all threads, which may have descriptors of their own. `directory`: files of its file system count.
[[nodiscard]] DescriptorUse descriptor_use(const std::vector<int>& processes, const io::Path& proc,
                                           const io::Path& directory);

}  // namespace gleaner::sandbox
