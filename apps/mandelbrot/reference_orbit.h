// The orbit of a deep view's centre, with as many bits as the view needs and then some (GMP's integers as
// fixed-point numbers: exact rules, the same bits everywhere). Managers only. Pure.
#pragma once

#include "apps/mandelbrot/deep.h"

namespace gleaner::mandelbrot {

// REQUIRES: settings.deep. Ends after `iterations` updates, or when the orbit is far out. Errors: invalid
// (the orbit is all but 0 all the time: there is nothing to see there).
[[nodiscard]] Result<ReferenceOrbit> compute_reference(const Settings& settings);

}  // namespace gleaner::mandelbrot
