#include "server/console/files.h"

#include <algorithm>
#include <array>
#include <utility>

// NOLINTBEGIN(hicpp-no-assembler): C++20 has no #embed
#define GLEANER_CONSOLE_FILE(number, path)                                                             \
  asm(".pushsection .rodata\ngleaner_console_" #number "_begin:\n.incbin \"" GLEANER_CONSOLE_DIRECTORY \
      "/" path ".gz\"\ngleaner_console_" #number "_end:\n.popsection\n");                              \
  extern "C" const char gleaner_console_##number##_begin[];                                            \
  extern "C" const char gleaner_console_##number##_end[];
#include "console_files.inc"
#undef GLEANER_CONSOLE_FILE
// NOLINTEND(hicpp-no-assembler)

namespace gleaner::console {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

const std::vector<File>& files() {
#define GLEANER_CONSOLE_FILE(number, path) \
  File{path, between(gleaner_console_##number##_begin, gleaner_console_##number##_end)},
  static const std::vector<File> all{
#include "console_files.inc"
  };
#undef GLEANER_CONSOLE_FILE
  return all;
}

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
