// What a walk reads off its element, by limb 0 of the Montgomery form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gleaner::dlog {

inline constexpr int multiplier_bits = 5;

// The bits that are 0 in a distinguished element. Low ones, because small moduli have no others; not those
// that choose the multiplier.
[[nodiscard]] inline std::uint64_t ending_bits(int bits) {
  return ((std::uint64_t{1} << bits) - 1) << multiplier_bits;
}

[[nodiscard]] inline bool distinguished(std::uint64_t limb, int bits) {
  return (limb & ending_bits(bits)) == 0;
}

[[nodiscard]] inline std::size_t multiplier_of(std::uint64_t limb) {
  return limb & ((std::uint64_t{1} << multiplier_bits) - 1);
}

}  // namespace gleaner::dlog
