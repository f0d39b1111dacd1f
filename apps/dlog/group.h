// The group and the walk that all hosts share: g of prime order q modulo p, y = g^x, and the parameters of
// Pollard's rho. As the kernels' input it is a small text. Value type; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/dlog/numbers.h"
#include "shared/base/result.h"

namespace gleaner::dlog {

inline constexpr std::size_t modulus_bits_max = 4096;
inline constexpr std::size_t order_bits_max = 100;  // 2^50 steps

struct Group {
  mpz_class p, q, g, y;
  std::uint64_t seed = 1;
  int distinguished_bits = 0;  // of limb 0, for the end of a walk
  std::int64_t walks = 1;      // of an item

  [[nodiscard]] std::size_t limbs() const { return (bits_of(p) + 63) / 64; }
  // Bytes of an element (in Montgomery form) and of an exponent in items.
  [[nodiscard]] std::size_t element_bytes() const { return 8 * limbs(); }
  [[nodiscard]] std::size_t exponent_bytes() const { return (bits_of(q) + 7) / 8; }
  // Steps that are to be expected: sqrt(pi q / 2), and what walks of unequal length and 32 multipliers cost.
  [[nodiscard]] double expected_steps() const;
  // The distinguished points and items that make a walk neither too short nor too long.
  void choose_walks();

  [[nodiscard]] Bytes text() const;
  [[nodiscard]] static Result<Group> from_text(std::string_view text);
};

// The additive walk (Teske 1998): z -> z * M[s], s by z itself; M[s] = g^a[s] y^b[s] from the seed.
inline constexpr int multipliers = 32;
struct Multipliers {
  std::array<mpz_class, multipliers> a, b, element;
};
[[nodiscard]] Multipliers multipliers_of(const Group& group);

// A walk starts at y g^a; those of an item are evenly spaced, so that each start is one product away.
[[nodiscard]] mpz_class first_exponent(const Group& group, std::int64_t item);
[[nodiscard]] mpz_class exponent_spacing(const Group& group);

// z * 2^(64 limbs) modulo p: the form that items carry and that walks look at.
[[nodiscard]] mpz_class to_montgomery(const Group& group, const mpz_class& element);

// Walks that go on for this many times their expected length are given up.
inline constexpr std::int64_t patience = 20;

}  // namespace gleaner::dlog
