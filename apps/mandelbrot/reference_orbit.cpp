#include "apps/mandelbrot/reference_orbit.h"

#include <gmpxx.h>

#include <utility>

namespace gleaner::mandelbrot {
namespace {

constexpr int guard_bits = 96;      // rounding, and its growth along the orbit
constexpr double far_out = 0x1p20;  // |z|^2; points that stay are far from the orbit by then
constexpr std::int64_t tiny_exponent = -500;

mpz_class power_of_ten(std::int64_t exponent) {
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<std::uint32_t>(exponent));
  return power;
}

// number * 2^bits, rounded down.
mpz_class fixed(const Decimal& number, std::uint64_t bits) {
  mpz_class value = number.zero() ? 0 : mpz_class(number.digits, 10);
  if (number.negative) value = -value;
  if (number.exponent > 0) value *= power_of_ten(number.exponent);
  mpz_mul_2exp(value.get_mpz_t(), value.get_mpz_t(), bits);
  if (number.exponent < 0) {
    const mpz_class divisor = power_of_ten(-number.exponent);
    mpz_fdiv_q(value.get_mpz_t(), value.get_mpz_t(), divisor.get_mpz_t());
  }
  return value;
}

void shift_down(mpz_class& value, std::uint64_t bits) {
  mpz_fdiv_q_2exp(value.get_mpz_t(), value.get_mpz_t(), bits);
}

Extended extended(const mpz_class& re, const mpz_class& im, std::uint64_t bits) {
  long re_exponent = 0, im_exponent = 0;
  const double re_part = mpz_get_d_2exp(&re_exponent, re.get_mpz_t());
  const double im_part = mpz_get_d_2exp(&im_exponent, im.get_mpz_t());
  return normalised({re_part, 0, re_exponent - static_cast<std::int64_t>(bits)}) +
         normalised({0, im_part, im_exponent - static_cast<std::int64_t>(bits)});
}

}  // namespace

Result<ReferenceOrbit> compute_reference(const Settings& settings) {
  // log2 10 < 3.33.
  const std::int64_t digits = std::max<std::int64_t>(0, 1 - settings.view_width.magnitude());
  const auto bits = static_cast<std::uint64_t>(digits * 333 / 100 + 64 + guard_bits);
  const mpz_class c_re = fixed(settings.centre_x, bits), c_im = fixed(settings.centre_y, bits);
  ReferenceOrbit orbit;
  const mpz_class half_step = fixed(settings.view_width, bits) / (2 * settings.width);
  orbit.half_step = extended(half_step, 0, bits);
  // Exact zeros are themselves as doubles.
  const auto tiny = [](const Extended& z) { return z.exponent < tiny_exponent && (z.re != 0 || z.im != 0); };
  mpz_class re = 0, im = 0, re_square = 0, im_square = 0, product;
  for (std::int64_t count = 0; count <= settings.iterations; ++count) {
    const Extended z = extended(re, im, bits);
    orbit.points.push_back({real_of(z), imaginary_of(z)});
    if (tiny(z)) orbit.tiny[count] = z;
    if (std::cmp_greater(orbit.tiny.size(), tiny_points_max)) {
      return Error{ErrorKind::invalid,
                   "centre_x, centre_y: the centre's orbit is next to 0 too often: move the view a little"};
    }
    const ReferenceOrbit::Point& point = orbit.points.back();
    if (point.re * point.re + point.im * point.im > far_out) break;
    product = re * im;
    shift_down(product, bits - 1);
    re = re_square - im_square + c_re;
    im = product + c_im;
    re_square = re * re;
    im_square = im * im;
    shift_down(re_square, bits);
    shift_down(im_square, bits);
  }
  return orbit;
}

}  // namespace gleaner::mandelbrot
