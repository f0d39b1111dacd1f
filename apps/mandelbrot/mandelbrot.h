// The Mandelbrot set by rows. z <- z^2 + c from z = 0; a point's count is how many updates leave |z|^2 <= 4,
// at most `iterations` (such a point is taken never to escape). Points are the centres of the pixels,
// measured from the region's centre, so that a picture symmetric about an axis is so to the bit; row 0 is at
// y_max. Doubles, no contraction: the same bytes on every machine. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/kit/cpu_features.h"
#include "apps/kit/kernel.h"
#include "apps/kit/problem.h"
#include "apps/mandelbrot/decimal.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::mandelbrot {

enum class Colour { smooth, counts };

struct Settings {
  double x_min = -2, x_max = 1, y_min = -1.5, y_max = 1.5;
  std::int64_t width = 512, height = 512;
  std::int64_t iterations = 1000;
  Colour colour = Colour::smooth;
  // A view by its centre, with square pixels. The region above is then the nearest doubles; if they cannot
  // tell its pixels apart, the view is deep (deep.h).
  bool deep = false;
  Decimal centre_x, centre_y, view_width;
};

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

// The coordinates of a pixel's centre.
[[nodiscard]] double column_x(const Settings& settings, std::int64_t column);
[[nodiscard]] double row_y(const Settings& settings, std::int64_t row);

struct Escape {
  std::uint32_t count = 0;
  // count + fraction changes continuously from point to point (normalised iteration count, after Linas
  // Vepstas 1997); 0 for points that never escape.
  float fraction = 0;
};
[[nodiscard]] Escape escape_of(double x, double y, std::int64_t iterations);
// How far the point x + i y is between its count and the next, from the state that escaped.
[[nodiscard]] float smooth_fraction(double x, double y, double real, double imaginary);

// A row's item: for each pixel the count (uint32) and the fraction (IEEE float32), little-endian.
inline constexpr std::int64_t pixel_bytes = 8;
void append_pixel(Bytes& row, const Escape& escape);
// The same bytes at every level. REQUIRES: !settings.deep.
[[nodiscard]] Bytes compute_row(const Settings& settings, std::int64_t row, kit::ItemContext& context,
                                kit::CpuLevel level = kit::cpu_level());
// REQUIRES: bytes.size() is a multiple of pixel_bytes.
[[nodiscard]] std::vector<Escape> decode_row(std::string_view bytes);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::mandelbrot
