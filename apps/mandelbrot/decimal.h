// Decimal numbers as text, with all their digits: "-0.75", "1e-100". Untrusted input: bounded. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gleaner::mandelbrot {

inline constexpr std::size_t decimal_length_max = 4000;
inline constexpr std::int64_t decimal_exponent_max = 10'000;

// The number is digits * 10^exponent, with the sign. Neither leading nor trailing zeros; no digits: zero.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  [[nodiscard]] bool zero() const { return digits.empty(); }
  // The power of ten above it: |number| < 10^magnitude. REQUIRES: !zero().
  [[nodiscard]] std::int64_t magnitude() const { return exponent + static_cast<std::int64_t>(digits.size()); }
  // The nearest double; 0 if it is below all of them. REQUIRES: zero() or magnitude() <= 300.
  [[nodiscard]] double approximate() const;
};

// Nothing if it is no number, or longer than the bounds.
[[nodiscard]] std::optional<Decimal> parse_decimal(std::string_view text);

}  // namespace gleaner::mandelbrot
