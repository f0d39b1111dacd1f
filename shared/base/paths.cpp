#include "shared/base/paths.h"

namespace gleaner {

std::filesystem::path utf8_path(std::string_view text) {
  return {std::u8string(text.begin(), text.end())};
}

std::string utf8_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

std::filesystem::path with_suffix(std::filesystem::path path, std::string_view suffix) {
  path += utf8_path(suffix);
  return path;
}

}  // namespace gleaner
