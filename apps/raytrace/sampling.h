// The tracer's sample positions. Additive recurrences with the generalised golden ratios (Roberts 2018)
// spread any number of samples evenly; a hash of the pixel shifts them, so that neighbours do not share their
// errors.
#pragma once

#include <cmath>
#include <cstdint>

namespace gleaner::raytrace {

// splitmix64's mixing (Steele et al. 2014).
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Square {
  double u = 0, v = 0;  // in [0, 1)
};

enum class Use { pixel, lens, light };

// Sample `index` of those for one use, shifted by `hash`.
[[nodiscard]] inline Square spread(Use use, int index, std::uint64_t hash) {
  double step_u = 0.7548776662466927, step_v = 0.5698402909980532;                  // two dimensions
  if (use == Use::lens) step_u = 0.8191725133961645, step_v = 0.6710436067037893;   // three
  if (use == Use::light) step_u = 0.8566748838545029, step_v = 0.7338918566271260;  // four
  const double u = static_cast<double>(hash >> 32) * 0x1p-32 + index * step_u;
  const double v = static_cast<double>(hash & 0xffffffff) * 0x1p-32 + index * step_v;
  return {u - std::floor(u), v - std::floor(v)};
}

struct Disc {
  double x = 0, y = 0;  // in the unit disc
};

// Evenly over the unit disc; angles are quantised to 4096 directions of a table.
[[nodiscard]] Disc on_disc(Square square);

}  // namespace gleaner::raytrace
