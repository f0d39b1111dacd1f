// Views below double precision: every point is followed as its difference to one orbit, which the manager has
// computed with as many digits as needed (reference_orbit.h). With Z that orbit, z = Z + d a point's:
//   d' = (2 Z + d) d + c_point - c_reference.
// Where |z| < |d|, or the orbit ends, z itself becomes the difference, to the orbit's beginning: differences
// stay accurate to the last bits of a double ("rebasing", Zhuoran 2021), and there are no glitches to
// find and mend. Differences below 2^-480 are Extended. Const and thread-safe.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "apps/mandelbrot/extended.h"
#include "apps/mandelbrot/mandelbrot.h"

namespace gleaner::mandelbrot {

// What the kernels get as the input `reference`: the orbit of the picture's centre.
struct ReferenceOrbit {
  struct Point {
    double re = 0, im = 0;
  };
  Extended half_step;                     // half of the distance between neighbouring pixels; real
  std::vector<Point> points;              // the first is 0
  std::map<std::int64_t, Extended> tiny;  // those that lose bits as doubles
};

inline constexpr const char* reference_input = "reference";
inline constexpr std::int64_t reference_bytes_max = 64 << 20;
inline constexpr std::int64_t tiny_points_max = 100'000;

[[nodiscard]] Bytes encode(const ReferenceOrbit& orbit);
// invalid.
[[nodiscard]] Result<ReferenceOrbit> decode_reference(std::string_view bytes);

// The point's count and fraction as escape_of() would tell with enough digits; at most `iterations`.
[[nodiscard]] Escape deep_escape(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t column,
                                 std::int64_t row, std::int64_t iterations);

// A row's item, in the form of compute_row(); the same bytes at every level.
[[nodiscard]] Bytes compute_deep_row(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t row,
                                     kit::ItemContext& context, kit::CpuLevel level = kit::cpu_level());

}  // namespace gleaner::mandelbrot
