#include "server/console/files.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gleaner::console {

const File* find_file(std::string_view path) {
  const auto found =
      std::find_if(files().begin(), files().end(), [&](const File& file) { return file.path == path; });
  return found == files().end() ? nullptr : &*found;
}

std::string media_type(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
      {{".html", "text/html; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".svg", "image/svg+xml"}}};
  for (const auto& [end, type] : types)
    if (path.ends_with(end)) return std::string(type);
  return "application/octet-stream";
}

}  // namespace gleaner::console
