#include "shared/protocol/text.h"

#include <algorithm>

#include "shared/base/utf8.h"

namespace gleaner::protocol {
namespace {

constexpr std::size_t digest_length = 64;
constexpr char32_t first_above_controls = 0xA0;  // those are the reader's to refuse

}  // namespace

std::string without_invisible(std::string_view text) {
  std::string visible;
  if (is_clean(text)) return visible.assign(text);
  while (!text.empty()) {
    const auto [bytes, code] = first_character(text);
    const std::size_t length = std::max<std::size_t>(bytes, 1);
    if (code >= first_above_controls && !is_shown(code))
      visible += ' ';
    else
      visible += text.substr(0, length);
    text.remove_prefix(length);
  }
  return visible;
}

bool is_digest(std::string_view text) {
  return text.size() == digest_length && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace gleaner::protocol
