// Whole numbers of any size (GMP) as text and as bytes of fixed width. Pure functions.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/random.h"

namespace gleaner::dlog {

// Decimal, or hexadecimal after 0x; not negative.
[[nodiscard]] std::optional<mpz_class> parse_number(std::string_view text);
[[nodiscard]] std::string to_text(const mpz_class& number);
[[nodiscard]] std::size_t bits_of(const mpz_class& number);

// Little-endian. REQUIRES: number fits.
[[nodiscard]] Bytes to_bytes(const mpz_class& number, std::size_t width);
[[nodiscard]] mpz_class from_bytes(std::string_view bytes);
// The library's own conversions are from and to `long`, which has 32 bits on some systems.
[[nodiscard]] mpz_class from_unsigned(std::uint64_t number);
// REQUIRES: 0 <= number < 2^64.
[[nodiscard]] std::uint64_t to_unsigned(const mpz_class& number);

[[nodiscard]] mpz_class power(const mpz_class& base, const mpz_class& exponent, const mpz_class& modulus);
// The remainder that is not negative.
[[nodiscard]] mpz_class modulo(const mpz_class& number, const mpz_class& modulus);
// Nothing if there is none.
[[nodiscard]] std::optional<mpz_class> inverse(const mpz_class& number, const mpz_class& modulus);
[[nodiscard]] bool is_prime(const mpz_class& number);  // wrong with probability 4^-40
// In [0, bound), the same everywhere for a state of `random`.
[[nodiscard]] mpz_class random_below(Random& random, const mpz_class& bound);

}  // namespace gleaner::dlog
