// The words of one line of apps/CONTRACT.md: separated by one space; the last may contain spaces. Both sides
// of the contract read with it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/base/range_set.h"

namespace gleaner {

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

}  // namespace gleaner
