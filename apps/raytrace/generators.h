// Procedural parts of scenes, the same on every machine: each is a function of its arguments (and seed) only.
// Errors: too_large if the scene would have more than primitives_max primitives.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/raytrace/mesh.h"
#include "apps/raytrace/scene.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

using Materials = std::vector<std::uint32_t>;  // never empty; used in turn

// A ball with nine balls on it, each with nine on it … (after Haines' sphereflake, 1987). 1 + 9 + … +
// 9^levels balls.
struct Flake {
  Vector centre;
  double radius = 1;
  int levels = 2;          // 0 to 5
  double ratio = 1.0 / 3;  // of a child's radius to its parent's
  Materials materials;     // by level
};
[[nodiscard]] Status add_flake(Scene& scene, const Flake& flake);

// Balls or boxes lying on a plane y = const in a ring, none touching another.
struct Scatter {
  bool boxes = false;
  int count = 10;
  std::uint64_t seed = 1;
  Vector centre;
  double inner = 0, outer = 10;  // radii of the ring
  double size_low = 0.1, size_high = 0.3;
  Materials materials;
};
[[nodiscard]] Status add_scatter(Scene& scene, const Scatter& scatter);

// Balls heaped as a pyramid with a square base of layers x layers.
[[nodiscard]] Status add_pyramid(Scene& scene, Vector base_centre, int layers, double radius,
                                 const Materials& materials);

// Balls in a circle in the plane y = centre.y.
[[nodiscard]] Status add_ring(Scene& scene, Vector centre, double ring_radius, int count, double radius,
                              const Materials& materials);

// A box standing on its base centre, turned about the vertical (radians); twelve triangles.
[[nodiscard]] Status add_box(Scene& scene, Vector base_centre, Vector size, double turn,
                             std::uint32_t material);

// A tube along a torus knot that winds `p` times around the axis and `q` times through the hole.
struct Knot {
  Vector centre;
  double radius = 1;
  double tube = 0.25;
  int p = 2, q = 3;
  int segments = 120, sides = 12;  // 2 * segments * sides triangles
  double turn = 0;                 // about the vertical, radians
  std::uint32_t material = 0;
};
[[nodiscard]] Status add_knot(Scene& scene, const Knot& knot);

// A mesh scaled, turned about the vertical and moved.
[[nodiscard]] Status add_mesh(Scene& scene, const Mesh& mesh, double scale, double turn, Vector move,
                              std::uint32_t material);

}  // namespace gleaner::raytrace
