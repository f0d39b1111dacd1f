// Numbers out of items, and colours for them. Pure functions; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "client/view/picture.h"

namespace gleaner::view {

using Rgb = std::array<unsigned char, 3>;

// The number at `place` (counted in values). REQUIRES: it is within `bytes`. Never infinite, not-a-number or
// below zero: those are 0.
[[nodiscard]] float number_at(std::string_view bytes, Value value, std::int64_t place);

// From black over violet, red and amber to white. `part`: 0 to 1.
[[nodiscard]] Rgb heat_colour(float part);
// Of an escape count with its fraction.
[[nodiscard]] Rgb escape_colour(double level);
// One of a few that go together.
[[nodiscard]] Rgb quilt_colour(std::uint64_t choice);

// FNV-1a over at most the first and the last 4 KiB: a pattern for an item, not a digest.
[[nodiscard]] std::uint64_t pattern_of(std::string_view bytes);

}  // namespace gleaner::view
