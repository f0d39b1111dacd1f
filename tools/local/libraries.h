// Which shared libraries the programs of a bundle need that neither the bundle brings nor volunteers'
// computers have for certain: the C and C++ libraries of the system are all that kernels may count on
// (apps/CONTRACT.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::local {

struct MissingLibrary {
  std::string file;  // of the bundle, relative to it: a program or a library
  std::string library;
};

// Names of the libraries that a 64-bit little-endian ELF file asks the loader for (DT_NEEDED; System V ABI,
// chapter 5). Empty: none, or not such a file. What cannot be true of one ends the list.
[[nodiscard]] std::vector<std::string> needed_libraries(std::string_view file);

// Of all programs but the manager, which runs on the server's computer, and of the libraries in the bundle
// that they need. Errors: io, a file cannot be read.
[[nodiscard]] Result<std::vector<MissingLibrary>> missing_libraries(const io::Files& files,
                                                                    const io::Path& bundle,
                                                                    const std::string& manager);

}  // namespace gleaner::local
