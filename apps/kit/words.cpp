#include "apps/kit/words.h"

#include <charconv>

#include "shared/base/limits.h"

namespace gleaner::kit {

std::string_view Words::next() {
  const std::size_t space = rest_.find(' ');
  const std::string_view word = rest_.substr(0, space);
  rest_ = space == std::string_view::npos ? std::string_view{} : rest_.substr(space + 1);
  return word;
}

std::string_view Words::rest() {
  const std::string_view word = rest_;
  rest_ = {};
  return word;
}

std::optional<std::int64_t> Words::number() {
  const std::string_view word = next();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  if (value < 0 || value > limits::items_max) return std::nullopt;
  return value;
}

std::optional<Range> Words::range() {
  const auto begin = number();
  const auto end = number();
  if (!begin || !end || *begin > *end) return std::nullopt;
  return Range{*begin, *end};
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, limits::message_length_max));
  for (char& character : line) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = ' ';
  }
  return line;
}

}  // namespace gleaner::kit
