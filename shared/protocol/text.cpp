#include "shared/protocol/text.h"

#include <algorithm>
#include <cstdint>

#include "shared/base/utf8.h"

namespace gleaner::protocol {
namespace {

constexpr std::string_view ellipsis = "...";
constexpr std::size_t digest_length = 64;

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

bool has_control_characters(std::string_view text, std::string_view allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte < 0x20 || byte == 0x7F) && allowed.find(text[i]) == std::string_view::npos) return true;
    if (byte == 0xC2 && static_cast<std::uint8_t>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

bool is_digest(std::string_view text) {
  return text.size() == digest_length && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace gleaner::protocol
