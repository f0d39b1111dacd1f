// The console's page and what belongs to it, as they were built (web/) and put into the program: no files to
// find, none to change. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gleaner::console {

struct File {
  std::string_view path;     // "index.html", "assets/index-B2x.js"
  std::string_view gzipped;  // what is served
  std::string digest;        // of that: SHA-256 in hex
};

// files_table.cpp.in
[[nodiscard]] const std::vector<File>& files();
// Null: there is none of this path.
[[nodiscard]] const File* find_file(std::string_view path);
// By the end of its path.
[[nodiscard]] std::string media_type(std::string_view path);

}  // namespace gleaner::console
