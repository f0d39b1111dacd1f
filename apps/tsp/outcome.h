// What an item says: how many tours it visited, the sum of their lengths modulo 2^64, and its best one. In a
// branch-and-bound item "visited" counts the beginnings that were looked at, and the sum is 0.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::tsp {

inline constexpr std::int64_t no_tour = -1;

struct Outcome {
  std::uint64_t visited = 0;
  std::uint64_t sum = 0;
  std::int64_t length = no_tour;
  std::vector<int> tour;  // empty if there is none

  // Shorter, or as short and lexicographically first.
  [[nodiscard]] bool better_than(const Outcome& other) const;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// 24 bytes, then a byte a city.
[[nodiscard]] Bytes encode(const Outcome& outcome);
[[nodiscard]] Result<Outcome> decode(std::string_view bytes);

}  // namespace gleaner::tsp
