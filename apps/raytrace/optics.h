// How light meets a surface. Pure functions of IEEE basic operations, square roots and portable_math.h.
#pragma once

#include "apps/raytrace/scene.h"

namespace gleaner::raytrace {

// Schlick 1994: what a mirror reflects grows from `straight` to all of the light as the ray grazes it.
[[nodiscard]] Vector schlick(Vector straight, double cosine);

// Fresnel's equations for unpolarised light: the part that is reflected. Cosines are of the angles to the
// normal on the two sides.
[[nodiscard]] double fresnel(double cosine, double cosine_through, double from_index, double to_index);

// The normal of a waved surface: waves of four directions and lengths, as slopes. Far waves are smaller than
// a pixel and fade.
[[nodiscard]] Vector rippled(Vector normal, Vector point, const Material& material, double distance);

// What is left of the light after `distance` in an absorbing medium (Beer and Lambert).
[[nodiscard]] Vector absorbed(Vector absorption, double distance);

}  // namespace gleaner::raytrace
