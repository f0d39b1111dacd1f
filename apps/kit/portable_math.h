// Elementary functions that give the same bits on every machine with IEEE doubles. The C library's do not:
// glibc chooses variants by the processor at run time, and they differ in the last bit. Only + - * / and
// exact scaling are used, compiled without contraction; relative errors stay below about 1e-15 (absolute near
// zeros of sine and cosine). std::sqrt, std::floor and std::abs are exact by IEEE and may be used as they
// are. Pure functions.
#pragma once

namespace gleaner::kit {

// Natural logarithm; REQUIRES: x > 0 and finite.
[[nodiscard]] double portable_log(double x);
// e^x; 0 below -745, infinity above 709.78.
[[nodiscard]] double portable_exp(double x);
// x^y as e^(y log x); 0 for x = 0. REQUIRES: x >= 0 and finite, y > 0.
[[nodiscard]] double portable_pow(double x, double y);
// REQUIRES: |x| <= 1e6.
[[nodiscard]] double portable_sin(double x);
[[nodiscard]] double portable_cos(double x);

}  // namespace gleaner::kit
