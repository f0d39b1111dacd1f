#include "apps/kit/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "shared/base/check.h"

namespace gleaner::kit {
namespace {

// ln 2 and pi/2 as a part with trailing zero bits, so that small multiples are exact, and the rest.
constexpr double ln2_high = 0x1.62e42fee00000p-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;
constexpr double half_pi_high = 0x1.921fb54400000p+0;
constexpr double half_pi_low = 0x1.0b4611a626331p-34;
constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
constexpr double inverse_half_pi = 0x1.45f306dc9c883p-1;

// 1/25, 1/23, … 1/3.
struct ArtanhCoefficients {
  double values[12] = {};
  constexpr ArtanhCoefficients() {
    for (int i = 0; i < 12; ++i) values[i] = 1 / static_cast<double>(25 - 2 * i);
  }
};
constexpr ArtanhCoefficients artanh_coefficients;

double power_of_two(int exponent) {  // REQUIRES: a normal number results
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Taylor's series on [-pi/4, pi/4].
double sine_near_zero(double x) {
  const double square = x * x;
  double term = x;
  double sum = x;
  for (int n = 1; n <= 9; ++n) {
    term = -term * square / static_cast<double>((2 * n) * (2 * n + 1));
    sum += term;
  }
  return sum;
}

double cosine_near_zero(double x) {
  const double square = x * x;
  double term = 1;
  double sum = 1;
  for (int n = 1; n <= 9; ++n) {
    term = -term * square / static_cast<double>((2 * n - 1) * (2 * n));
    sum += term;
  }
  return sum;
}

double sine_shifted(double x, std::int64_t quarter_turns) {
  CHECK_TRUE(std::abs(x) <= 1e6);
  const double turns = std::floor(x * inverse_half_pi + 0.5);
  const double rest = (x - turns * half_pi_high) - turns * half_pi_low;
  switch ((static_cast<std::int64_t>(turns) + quarter_turns) & 3) {
    case 0:
      return sine_near_zero(rest);
    case 1:
      return cosine_near_zero(rest);
    case 2:
      return -sine_near_zero(rest);
    default:
      return -cosine_near_zero(rest);
  }
}

}  // namespace

double portable_log(double x) {
  CHECK_TRUE(x > 0 && x <= std::numeric_limits<double>::max());
  double exponent = 0;
  if (x < 0x1p-1000) {  // reaches the subnormals
    x *= 0x1p+200;
    exponent = -200;
  }
  auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  double mantissa =
      std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1023} << 52));
  if (mantissa > 0x1.6a09e667f3bcdp+0) {  // sqrt 2: keep the mantissa around 1
    mantissa *= 0.5;
    exponent += 1;
  }
  // log m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + …), |s| < 0.172
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (const double coefficient : artanh_coefficients.values) sum = (sum + coefficient) * square;
  return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

double portable_exp(double x) {
  if (x < -745) return 0;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  const double scale = std::floor(x * inverse_ln2 + 0.5);
  const double rest = (x - scale * ln2_high) - scale * ln2_low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * rest / static_cast<double>(n);
  const int exponent = static_cast<int>(scale);
  const int half = exponent / 2;  // in two steps, so that neither factor leaves the normal numbers
  return sum * power_of_two(half) * power_of_two(exponent - half);
}

double portable_pow(double x, double y) {
  return x == 0 ? 0 : portable_exp(y * portable_log(x));
}

double portable_sin(double x) {
  return sine_shifted(x, 0);
}
double portable_cos(double x) {
  return sine_shifted(x, 1);
}

}  // namespace gleaner::kit
