// The words of one line of apps/CONTRACT.md: separated by one space; the last may contain spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/range_set.h"

namespace gleaner::kit {

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  // The next word; empty when there is none.
  std::string_view next();
  // All that is left, spaces included.
  std::string_view rest();
  // The next word as a whole number in [0, limits::items_max]; nothing if it is not one.
  std::optional<std::int64_t> number();
  // Two numbers, the first not above the second.
  std::optional<Range> range();
  [[nodiscard]] bool ended() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// A text made fit for a line: no control characters, at most limits::message_length_max bytes.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace gleaner::kit
