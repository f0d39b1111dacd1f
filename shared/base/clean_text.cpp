#include "shared/base/clean_text.h"

#include <algorithm>

#include "shared/base/utf8.h"

namespace gleaner {
namespace {

constexpr std::string_view ellipsis = "...";

// More than bytes_max bytes if there are more.
std::string shown_characters(std::string_view text, std::string_view allowed, std::size_t bytes_max) {
  std::string clean;
  clean.reserve(std::min(text.size(), bytes_max) + 4);
  while (!text.empty() && clean.size() <= bytes_max) {
    const auto [bytes, code] = first_character(text);
    const bool fit = is_shown(code) || (bytes == 1 && allowed.find(text.front()) != std::string_view::npos);
    clean += bytes == 0 ? utf8_replacement : fit ? text.substr(0, bytes) : " ";
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return clean;
}

// REQUIRES: valid UTF-8.
void cut(std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  std::size_t end = bytes_max < ellipsis.size() ? bytes_max : bytes_max - ellipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  text.resize(end);
  if (bytes_max >= ellipsis.size()) text += ellipsis;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  std::string clean = shown_characters(text, "\n\t", bytes_max);
  cut(clean, bytes_max);
  return clean;
}

std::string clean_line(std::string_view text, std::size_t bytes_max) {
  std::string clean = shown_characters(text, {}, text.size() * 3);
  clean.erase(0, clean.find_first_not_of(' '));
  clean.erase(clean.find_last_not_of(' ') + 1);
  cut(clean, bytes_max);
  return clean;
}

bool is_clean(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    if (text.front() >= ' ' && text.front() < 0x7F) {  // most are
      text.remove_prefix(1);
      continue;
    }
    const auto [bytes, code] = first_character(text);
    if (bytes == 0) return false;
    if (!is_shown(code) && (bytes > 1 || allowed.find(text.front()) == std::string_view::npos)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace gleaner
