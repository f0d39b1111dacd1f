// What packing and unpacking share. Private to this module. Thread-safe.
#pragma once

#include <archive.h>

#include <memory>
#include <string>
#include <string_view>

namespace gleaner::archives {

struct FreeReader {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using Reader = std::unique_ptr<archive, FreeReader>;

// Printable ASCII without backslash; not too long.
[[nodiscard]] inline bool is_portable_path(std::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  for (const char c : path)
    if (c < 0x20 || c > 0x7e || c == '\\') return false;
  return true;
}

// A name from an archive, fit for a terminal.
[[nodiscard]] inline std::string shown_path(std::string_view path) {
  std::string shown(path.substr(0, 200));
  for (char& c : shown)
    if (c < 0x20 || c > 0x7e) c = '?';
  return '"' + shown + '"';
}

[[nodiscard]] inline std::string reason_of(archive* handle) {
  const char* text = archive_error_string(handle);
  return text != nullptr ? text : "unknown reason";
}

}  // namespace gleaner::archives
