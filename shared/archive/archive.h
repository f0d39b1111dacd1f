// tar.gz archives, by libarchive. Packing is reproducible: sorted names, no times, no owners. Unpacking is
// for hostile input: only regular files and directories, relative paths without "..", bounded in files and
// bytes, into a directory that must not exist yet (removed again on failure).
#pragma once

#include <cstdint>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::archives {

// At most limits::bundle_bytes_max bytes (not packed) and limits::bundle_files_max files and directories.
[[nodiscard]] Result<Bytes> pack_directory(const io::Path& directory);
// `bytes_max` counts what comes out, `files_max` files and directories. What is unpacked is synced to disk.
[[nodiscard]] Status unpack(std::string_view archive, const io::Path& into, std::int64_t bytes_max,
                            int files_max);

}  // namespace gleaner::archives
