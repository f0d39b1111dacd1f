#include "shared/protocol/text.h"

#include <algorithm>
#include <cstdint>

namespace gleaner::protocol {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "...";

// Bytes of the well-formed UTF-8 character that `text` begins with (Unicode 15, table 3-7); 0 if there is
// none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(i < text.size() ? text[i] : 0); };
  const auto between = [&](std::size_t i, int low, int high) { return byte(i) >= low && byte(i) <= high; };
  const int lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return between(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const int low = lead == 0xE0 ? 0xA0 : 0x80;
    const int high = lead == 0xED ? 0x9F : 0xBF;  // no surrogates
    return between(1, low, high) && between(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const int low = lead == 0xF0 ? 0x90 : 0x80;
    const int high = lead == 0xF4 ? 0x8F : 0xBF;  // up to U+10FFFF
    return between(1, low, high) && between(2, 0x80, 0xBF) && between(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view character) {
  const auto lead = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<std::uint8_t>(character[1]) < 0xA0;  // C1: terminals obey these too
}

}  // namespace

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    repaired += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return repaired;
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string clean;
  clean.reserve(std::min(text.size(), bytes_max));
  std::size_t cut = 0;  // a character's end, after which the ellipsis still fits
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    std::string_view piece = length == 0 ? replacement : text.substr(at, length);
    if (piece != "\n" && piece != "\t" && is_control(piece)) piece = " ";
    if (clean.size() + piece.size() > bytes_max) {
      clean.resize(cut);
      if (bytes_max >= ellipsis.size()) clean += ellipsis;
      return clean;
    }
    clean += piece;
    if (clean.size() + ellipsis.size() <= bytes_max) cut = clean.size();
    at += std::max<std::size_t>(length, 1);
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
