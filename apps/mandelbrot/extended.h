// Complex numbers (re + i im) * 2^exponent, for magnitudes that doubles do not reach. Only IEEE operations
// and scaling by powers of two: the same bits everywhere. Pure.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gleaner::mandelbrot {

struct Extended {
  double re = 0, im = 0;
  std::int64_t exponent = 0;
};

// 2^exponent; 0 below -1022, where doubles lose digits. REQUIRES: exponent <= 1023.
[[nodiscard]] inline double power_of_two(std::int64_t exponent) {
  return exponent < -1022 ? 0 : std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// The same number with the larger part in [1, 2); zero has an exponent far below all others.
[[nodiscard]] inline Extended normalised(Extended a) {
  constexpr std::int64_t zero_exponent = -(std::int64_t{1} << 40);
  const double larger = std::fmax(std::abs(a.re), std::abs(a.im));
  if (larger == 0) return {0, 0, zero_exponent};
  const auto bits = std::bit_cast<std::uint64_t>(larger);
  if (bits >> 52 == 0) {  // subnormal: once more with all its bits
    return normalised({a.re * 0x1p100, a.im * 0x1p100, a.exponent - 100});
  }
  const std::int64_t shift = static_cast<std::int64_t>(bits >> 52) - 1023;
  // In two steps, as 2^1023 has no inverse among normal doubles.
  const std::int64_t half = -shift / 2;
  const double first = power_of_two(half), second = power_of_two(-shift - half);
  return {a.re * first * second, a.im * first * second, a.exponent + shift};
}

[[nodiscard]] inline Extended operator*(const Extended& a, const Extended& b) {
  return normalised({a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, a.exponent + b.exponent});
}

[[nodiscard]] inline Extended operator+(const Extended& a, const Extended& b) {
  const Extended& high = a.exponent >= b.exponent ? a : b;
  const Extended& low = a.exponent >= b.exponent ? b : a;
  const double scale = power_of_two(low.exponent - high.exponent);
  return normalised({high.re + low.re * scale, high.im + low.im * scale, high.exponent});
}

[[nodiscard]] inline Extended twice(Extended a) {
  ++a.exponent;
  return a;
}

// Is |a| < |b|? REQUIRES: both normalised.
[[nodiscard]] inline bool smaller(const Extended& a, const Extended& b) {
  // The squares of normalised numbers are in [1, 8).
  const std::int64_t difference = 2 * (b.exponent - a.exponent);
  if (difference > 8) return true;
  if (difference < -8) return false;
  return a.re * a.re + a.im * a.im < (b.re * b.re + b.im * b.im) * power_of_two(difference);
}

// As doubles; parts below 2^-1022 may become 0. REQUIRES: exponent <= 1000.
[[nodiscard]] inline double real_of(const Extended& a) {
  return a.re * power_of_two(a.exponent);
}
[[nodiscard]] inline double imaginary_of(const Extended& a) {
  return a.im * power_of_two(a.exponent);
}

}  // namespace gleaner::mandelbrot
