// Unit phasors of Fresnel diffraction. Phases are computed as turns, in double precision, and reduced to one
// turn before the sine and cosine: 65536 pixels in, they are good to about 1e-11 turns.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/hologram/complex.h"
#include "apps/hologram/settings.h"

namespace gleaner::hologram {

// exp(2 pi i turns), the same bits everywhere. REQUIRES: finite.
[[nodiscard]] Complex phasor(double turns);

// One axis of the transfer function H = exp(2 pi i d / lambda) exp(-pi i lambda d (fm^2 + fn^2)), without its
// constant: for each frequency in the transform's order.
[[nodiscard]] std::vector<Complex> transfer(const Settings& settings, std::int64_t count, double pitch);

// One axis of the direct method: exp(i pi / (lambda d) x^2) with x from the centre, by alternating signs,
// which put the transform's origin into the centre. `pitch`: of x.
[[nodiscard]] std::vector<Complex> chirp(const Settings& settings, std::int64_t count, double pitch);

// Of the output of the direct method: lambda |d| / (count pitch).
[[nodiscard]] double direct_pitch(const Settings& settings, std::int64_t count, double pitch);

// exp(2 pi i d / lambda).
[[nodiscard]] Complex path_phase(const Settings& settings);

// |d| up to which the transfer function, and from which the input chirp of the direct method, is sampled
// finely enough: N pitch^2 / lambda, the smaller of the two axes' for `convolution`, the greater for
// `direct`.
[[nodiscard]] double distance_limit(const Settings& settings, std::int64_t rows, std::int64_t columns);

}  // namespace gleaner::hologram
