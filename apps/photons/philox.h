// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): 128 random bits that are a function of a counter and a
// key. A photon's n-th event takes the block of (n, photon), so that what becomes of it depends on nothing
// else. Pure.
#pragma once

#include <cstdint>

namespace gleaner::photons {

inline constexpr std::uint32_t philox_multipliers[2] = {0xd2511f53, 0xcd9e8d57};
inline constexpr std::uint32_t philox_increments[2] = {0x9e3779b9, 0xbb67ae85};
inline constexpr int philox_rounds = 10;

struct PhiloxBlock {
  std::uint32_t word[4];
};
[[nodiscard]] PhiloxBlock philox(const PhiloxBlock& counter, const std::uint32_t (&key)[2]);

}  // namespace gleaner::photons
