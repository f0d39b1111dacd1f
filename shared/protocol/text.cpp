#include "shared/protocol/text.h"

#include <algorithm>

#include "shared/base/utf8.h"

namespace gleaner::protocol {
namespace {

constexpr std::string_view ellipsis = "...";

}  // namespace

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string clean;
  clean.reserve(std::min(text.size(), bytes_max));
  std::size_t cut = 0;  // a character's end, after which the ellipsis still fits
  for (std::size_t at = 0; at < text.size();) {
    const auto [bytes, code] = first_character(text.substr(at));
    std::string_view piece = bytes == 0 ? utf8_replacement : text.substr(at, bytes);
    if (bytes > 0 && code != '\n' && code != '\t' && is_control(code)) piece = " ";
    if (clean.size() + piece.size() > bytes_max) {
      clean.resize(cut);
      if (bytes_max >= ellipsis.size()) clean += ellipsis;
      return clean;
    }
    clean += piece;
    if (clean.size() + ellipsis.size() <= bytes_max) cut = clean.size();
    at += std::max<std::size_t>(bytes, 1);
  }
  return clean;
}

std::string clean_line(std::string_view text, std::size_t bytes_max) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const auto end = text.find_last_not_of(" \t\r\n");
  std::string clean = clean_text(text.substr(begin, end - begin + 1), bytes_max);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return clean;
}

}  // namespace gleaner::protocol
