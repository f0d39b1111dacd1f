// The numbers of a plane.
#pragma once

#include <complex>

namespace gleaner::hologram {

using Complex = std::complex<float>;

// Without the checks for infinities that operator* makes.
[[nodiscard]] inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace gleaner::hologram
