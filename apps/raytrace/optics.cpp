#include "apps/raytrace/optics.h"

#include <array>

#include "apps/kit/portable_math.h"

namespace gleaner::raytrace {

Vector schlick(Vector straight, double cosine) {
  const double grazing = power(1 - cosine, 5);
  return straight + (Vector{1, 1, 1} - straight) * grazing;
}

double fresnel(double cosine, double cosine_through, double from_index, double to_index) {
  const double across =
      (from_index * cosine - to_index * cosine_through) / (from_index * cosine + to_index * cosine_through);
  const double along =
      (to_index * cosine - from_index * cosine_through) / (to_index * cosine + from_index * cosine_through);
  return 0.5 * (across * across + along * along);
}

// Waves of four directions and lengths, as slopes of the surface. Far waves are smaller than a pixel and
// fade.
Vector rippled(Vector normal, Vector point, const Material& material, double distance) {
  struct Wave {
    double x, z, frequency;
  };
  constexpr std::array<Wave, 4> waves{
      {{0.82, 0.57, 1.0}, {-0.45, 0.89, 1.73}, {0.21, -0.98, 2.9}, {-0.93, -0.36, 4.1}}};
  constexpr double turn = 0x1.921fb54442d18p+2;
  const double fade = 1 / (1 + power(distance / (60 * material.ripple_length), 2));
  for (const Wave& wave : waves) {
    const double along = (wave.x * point.x + wave.z * point.z) * wave.frequency / material.ripple_length;
    const double slope =
        material.ripple_height * fade * kit::portable_cos(turn * (along - std::floor(along)));
    normal += Vector{wave.x * slope, 0, wave.z * slope};
  }
  return normalized(normal);
}

Vector absorbed(Vector absorption, double distance) {
  return {kit::portable_exp(-absorption.x * distance), kit::portable_exp(-absorption.y * distance),
          kit::portable_exp(-absorption.z * distance)};
}

}  // namespace gleaner::raytrace
