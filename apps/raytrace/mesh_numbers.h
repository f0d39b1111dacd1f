// Numbers of mesh files: the same value everywhere (std::from_chars rounds correctly and knows no locale).
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace gleaner::raytrace {

inline constexpr double coordinate_max = 1e9;

// The next word of `line`, which loses it; words are separated by blanks. Empty at the end.
[[nodiscard]] inline std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

template <typename Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

[[nodiscard]] inline bool coordinate(double value) {
  return std::abs(value) <= coordinate_max;
}  // a NaN is none

}  // namespace gleaner::raytrace
