// A file of one directory put into another as it is, with its permissions: as a hard link, where the file
// never changes and both are on one file system, or as a copy. Stateless; any thread. Errors: io.
#pragma once

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::io {

enum class Place { link_or_copy, copy };
enum class Placed { linked, copied };

// What is at `to` already is an error. Not synced: call sync_file_system() once, when all are there.
[[nodiscard]] Result<Placed> place_file(const Path& from, const Path& to, Place how);
// Everything that was written where `path` is would survive a power cut.
[[nodiscard]] Status sync_file_system(const Path& path);

}  // namespace gleaner::io
