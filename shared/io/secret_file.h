// Files that only their owner may read: keys, tokens, join codes. Thread-safe.
#pragma once

#include "shared/io/files.h"

namespace gleaner::io {

// Errors: untrusted if its mode lets others read or change it: says `chmod 600 FILE`.
[[nodiscard]] Result<Bytes> read_secret_file(const Files& files, const Path& path, std::int64_t bytes_max);

}  // namespace gleaner::io
