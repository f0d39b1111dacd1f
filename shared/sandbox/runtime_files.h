// What a confined program must be able to read to start: the system's libraries and, for a script, its
// interpreter with its own modules. Platform file: runtime_files_linux.cpp.
#pragma once

#include <string>
#include <vector>

#include "shared/io/files.h"

namespace gleaner::sandbox {

// Where a sandbox with a file system of its own has the helper.
inline constexpr const char* inner_helper = "/gleaner-sandbox";

struct RuntimeFile {
  io::Path path;
  std::string link;  // if it is a symbolic link: where it leads
};

// In an order in which they can be made; only what exists. A program that cannot be read needs nothing.
[[nodiscard]] std::vector<RuntimeFile> runtime_files(const io::Path& program, const io::Path& root = "/");
// Of several programs in one sandbox.
[[nodiscard]] std::vector<RuntimeFile> runtime_files_of(const std::vector<io::Path>& programs,
                                                        const io::Path& root = "/");

// What this computer lacks to start `program`, a script: its interpreter, and how to install that. Empty:
// nothing.
[[nodiscard]] std::string missing_interpreter(const io::Path& program, const io::Path& root = "/");

}  // namespace gleaner::sandbox
