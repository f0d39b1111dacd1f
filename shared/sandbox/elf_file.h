// What a 64-bit little-endian ELF file asks the loader for. Of other files all answers are empty. What cannot
// be true of such a file ends a list. Pure. Called from any thread. Cost: O(file) at most, a few pages of it
// as a rule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gleaner::sandbox {

struct SymbolVersion {
  std::string library;  // that has it: "libc.so.6"
  std::string version;  // "GLIBC_2.38"
};

// Names of the libraries (DT_NEEDED; System V ABI, chapter 5).
[[nodiscard]] std::vector<std::string> needed_libraries(std::string_view file);

// The versions of symbols (DT_VERNEED; Linux Standard Base, "Symbol Versioning").
[[nodiscard]] std::vector<SymbolVersion> needed_versions(std::string_view file);

// The loader that starts it, a path (PT_INTERP; System V ABI, chapter 5). Empty, too: none, as of a library.
[[nodiscard]] std::string needed_loader(std::string_view file);

}  // namespace gleaner::sandbox
