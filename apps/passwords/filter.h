// Which candidates are worth a second look: one 32-bit word of a digest against a bitmap that fits a cache,
// then against the words themselves. Plain pointers, because the hashing variants (engine_*.cpp) read it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gleaner::passwords {

struct Filter {
  const std::uint32_t* bitmap;  // bit (word & bitmap_mask)
  std::uint32_t bitmap_mask;
  const std::uint64_t* table;  // open addressing: 2^32 + word, or 0; at most half full
  std::uint32_t table_mask;
};

inline constexpr std::uint32_t table_multiplier = 0x9e3779b1;  // Fibonacci hashing

}  // namespace gleaner::passwords
