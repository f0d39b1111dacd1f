// Files that only this process's user may reach, whatever umask it was started with. For composition roots.
#pragma once

#include <string>

#include "shared/io/files.h"

namespace gleaner::io {

// What this process makes from now on is its user's alone: directories 0700, files 0600. Not thread-safe.
void make_private_files();
// The same, but others may read what a closed directory does not hide: programs that run as users of their
// own.
void make_readable_files();

// Closes a directory of this user's, and the files in it, to others. What is to be told of that, with what to
// do if it could not be done; empty: nothing. Others' group is their owner's to allow.
[[nodiscard]] std::string close_to_others(const Path& directory);

}  // namespace gleaner::io
