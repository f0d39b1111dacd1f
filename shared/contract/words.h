// The words of one line of apps/CONTRACT.md: separated by one space; the last may contain spaces. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/range_set.h"

namespace gleaner::contract {

inline constexpr std::size_t line_bytes_max = 65'536;  // with its line feed

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  // The next word; empty if there is none (or two spaces are where a word should be).
  std::string_view next();
  // All that is left, spaces included.
  std::string_view rest();
  // The next word as a whole number from 0 to limits::items_max: digits only.
  std::optional<std::int64_t> number();
  // The next word as a number from 0 to `high`.
  std::optional<double> fraction(double high);
  // Two numbers, the first not above the second.
  std::optional<Range> range();
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::string_view rest_;
  bool ended_ = rest_.empty();
};

// For messages: the line in quotes, cleaned and cut.
[[nodiscard]] std::string in_quotes(std::string_view line);

// The end of what a program said on standard error, as a sentence that follows another; empty if it said
// nothing.
[[nodiscard]] std::string last_words(std::string_view error_tail);

}  // namespace gleaner::contract
