// May other users pass every directory above it? Not where, say, the root itself is private.
#pragma once

#include <sys/stat.h>

#include <filesystem>

namespace gleaner {

inline bool others_reach(const std::filesystem::path& path) {
  for (auto above = path.parent_path();; above = above.parent_path()) {
    struct stat facts {};
    if (::stat(above.c_str(), &facts) != 0 || (facts.st_mode & S_IXOTH) == 0) return false;
    if (above == above.root_path()) return true;
  }
}

}  // namespace gleaner
