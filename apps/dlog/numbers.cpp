#include "apps/dlog/numbers.h"

#include "shared/base/check.h"

namespace gleaner::dlog {

std::optional<mpz_class> parse_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  const std::string_view digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
  if (text.empty() || text.find_first_not_of(digits) != std::string_view::npos) return std::nullopt;
  return mpz_class(std::string(text), hexadecimal ? 16 : 10);
}

std::string to_text(const mpz_class& number) {
  return number.get_str();
}

std::size_t bits_of(const mpz_class& number) {
  return number == 0 ? 0 : mpz_sizeinbase(number.get_mpz_t(), 2);
}

Bytes to_bytes(const mpz_class& number, std::size_t width) {
  CHECK_TRUE(number >= 0 && bits_of(number) <= 8 * width);
  Bytes bytes(width, '\0');
  mpz_export(bytes.data(), nullptr, -1, 1, 0, 0, number.get_mpz_t());
  return bytes;
}

mpz_class from_bytes(std::string_view bytes) {
  mpz_class number;
  mpz_import(number.get_mpz_t(), bytes.size(), -1, 1, 0, 0, bytes.data());
  return number;
}

mpz_class from_unsigned(std::uint64_t number) {
  mpz_class result;
  mpz_import(result.get_mpz_t(), 1, -1, sizeof number, 0, 0, &number);
  return result;
}

std::uint64_t to_unsigned(const mpz_class& number) {
  CHECK_TRUE(number >= 0 && bits_of(number) <= 64);
  std::uint64_t result = 0;
  mpz_export(&result, nullptr, -1, sizeof result, 0, 0, number.get_mpz_t());
  return result;
}

mpz_class power(const mpz_class& base, const mpz_class& exponent, const mpz_class& modulus) {
  mpz_class result;
  mpz_powm(result.get_mpz_t(), base.get_mpz_t(), exponent.get_mpz_t(), modulus.get_mpz_t());
  return result;
}

mpz_class modulo(const mpz_class& number, const mpz_class& modulus) {
  mpz_class result;
  mpz_mod(result.get_mpz_t(), number.get_mpz_t(), modulus.get_mpz_t());
  return result;
}

std::optional<mpz_class> inverse(const mpz_class& number, const mpz_class& modulus) {
  mpz_class result;
  if (mpz_invert(result.get_mpz_t(), number.get_mpz_t(), modulus.get_mpz_t()) == 0) return std::nullopt;
  return result;
}

bool is_prime(const mpz_class& number) {
  return mpz_probab_prime_p(number.get_mpz_t(), 40) != 0;
}

mpz_class random_below(Random& random, const mpz_class& bound) {
  mpz_class number = 0;
  // 64 bits more than needed: the bias is below 2^-64.
  for (std::size_t bits = 0; bits < bits_of(bound) + 64; bits += 32) {
    number <<= 32;
    number += static_cast<std::uint32_t>(random.next() >> 32);
  }
  return modulo(number, bound);
}

}  // namespace gleaner::dlog
