#include "apps/raytrace/generators.h"

#include "apps/kit/portable_math.h"
#include "shared/base/random.h"

namespace gleaner::raytrace {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;

Status room_for(const Scene& scene, std::int64_t more) {
  if (static_cast<std::int64_t>(scene.primitives.size()) + more <= primitives_max) return {};
  return Error{ErrorKind::too_large,
               "the scene has more than " + std::to_string(primitives_max) + " primitives"};
}

std::uint32_t in_turn(const Materials& materials, std::size_t i) {
  return materials[i % materials.size()];
}

Vector turned(Vector v, double cosine, double sine) {
  return {cosine * v.x + sine * v.z, v.y, cosine * v.z - sine * v.x};
}

void add_children(Scene& scene, const Flake& flake, Vector centre, double radius, Vector axis, int level) {
  const double child = radius * flake.ratio;
  Vector a;
  Vector b;
  tangents(axis, a, b);
  for (int i = 0; i < 9; ++i) {
    // Six around the middle, three above.
    const double around = i < 6 ? i * pi / 3 : i * 2 * pi / 3 + pi / 6;
    const double up = i < 6 ? 0 : pi / 3;
    const Vector flat = kit::portable_cos(around) * a + kit::portable_sin(around) * b;
    const Vector direction = normalized(kit::portable_cos(up) * flat + kit::portable_sin(up) * axis);
    const Vector place = centre + (radius + child) * direction;
    scene.add_sphere(place, child, in_turn(flake.materials, static_cast<std::size_t>(level)));
    if (level < flake.levels) add_children(scene, flake, place, child, direction, level + 1);
  }
}

}  // namespace

Status add_flake(Scene& scene, const Flake& flake) {
  std::int64_t balls = 0;
  for (int level = 0; level <= flake.levels; ++level) balls = balls * 9 + 1;
  TRY(room_for(scene, balls));
  scene.add_sphere(flake.centre, flake.radius, in_turn(flake.materials, 0));
  if (flake.levels > 0) add_children(scene, flake, flake.centre, flake.radius, {0, 1, 0}, 1);
  return {};
}

Status add_scatter(Scene& scene, const Scatter& scatter) {
  constexpr int attempts_each = 200;
  TRY(room_for(scene, static_cast<std::int64_t>(scatter.count) * (scatter.boxes ? 12 : 1)));
  Random random(scatter.seed);
  struct Disc {
    Vector centre;
    double radius;
  };
  std::vector<Disc> taken;
  for (int attempt = 0; attempt < scatter.count * attempts_each; ++attempt) {
    if (taken.size() == static_cast<std::size_t>(scatter.count)) break;
    const double size = scatter.size_low + (scatter.size_high - scatter.size_low) * random.uniform();
    const double square_low = scatter.inner * scatter.inner;
    const double radius =
        std::sqrt(square_low + (scatter.outer * scatter.outer - square_low) * random.uniform());
    const double angle = 2 * pi * random.uniform();
    const double stretch = 0.5 + 2 * random.uniform();  // of a box's height
    const double turn = 2 * pi * random.uniform();
    const Vector place =
        scatter.centre + Vector{radius * kit::portable_cos(angle), 0, radius * kit::portable_sin(angle)};
    const double reach = scatter.boxes ? size * 1.42 : size;
    bool free = true;
    for (const Disc& disc : taken) free = free && length(place - disc.centre) > reach + disc.radius;
    if (!free) continue;
    const std::uint32_t material = in_turn(scatter.materials, taken.size());
    taken.push_back({place, reach});
    if (scatter.boxes) {
      TRY(add_box(scene, place, {2 * size, 2 * size * stretch, 2 * size}, turn, material));
    } else {
      scene.add_sphere(place + Vector{0, size, 0}, size, material);
    }
  }
  if (taken.size() == static_cast<std::size_t>(scatter.count)) return {};
  return Error{ErrorKind::invalid, "there is no room for " + std::to_string(scatter.count) +
                                       " things in the ring: make it wider or the things smaller or fewer"};
}

Status add_pyramid(Scene& scene, Vector base_centre, int layers, double radius, const Materials& materials) {
  TRY(room_for(scene, static_cast<std::int64_t>(layers) * layers * layers));
  const double rise = radius * std::sqrt(2.0);
  std::size_t count = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const int side = layers - layer;
    for (int i = 0; i < side * side; ++i) {
      const double x = (2 * (i % side) - (side - 1)) * radius;
      const double z = (2 * (i / side) - (side - 1)) * radius;
      const Vector place = base_centre + Vector{x, radius + layer * rise, z};
      scene.add_sphere(place, radius, in_turn(materials, count++));
    }
  }
  return {};
}

Status add_ring(Scene& scene, Vector centre, double ring_radius, int count, double radius,
                const Materials& materials) {
  TRY(room_for(scene, count));
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * pi * i / count;
    const Vector offset{ring_radius * kit::portable_cos(angle), 0, ring_radius * kit::portable_sin(angle)};
    scene.add_sphere(centre + offset, radius, in_turn(materials, static_cast<std::size_t>(i)));
  }
  return {};
}

Status add_box(Scene& scene, Vector base_centre, Vector size, double turn, std::uint32_t material) {
  TRY(room_for(scene, 12));
  const double cosine = kit::portable_cos(turn);
  const double sine = kit::portable_sin(turn);
  std::array<Vector, 8> corners;  // bit 0: x, bit 1: y, bit 2: z
  for (unsigned i = 0; i < 8; ++i) {
    const Vector corner{(i & 1U ? 0.5 : -0.5) * size.x, i & 2U ? size.y : 0, (i & 4U ? 0.5 : -0.5) * size.z};
    corners[i] = base_centre + turned(corner, cosine, sine);
  }
  constexpr std::array<std::array<unsigned, 4>, 6> sides{
      {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
  for (const auto& side : sides) {
    scene.add_triangle(corners[side[0]], corners[side[1]], corners[side[2]], material);
    scene.add_triangle(corners[side[0]], corners[side[2]], corners[side[3]], material);
  }
  return {};
}

Status add_knot(Scene& scene, const Knot& knot) {
  // The tube's middle line, and its points around it.
  const auto middle = [&](double t) {
    const double around = 2 * pi * knot.p * t;
    const double through = 2 * pi * knot.q * t;
    const double distance = knot.radius * (1 + 0.4 * kit::portable_cos(through));
    return Vector{distance * kit::portable_cos(around), 0.4 * knot.radius * kit::portable_sin(through),
                  distance * kit::portable_sin(around)};
  };
  Mesh mesh;
  for (int segment = 0; segment < knot.segments; ++segment) {
    const double t = static_cast<double>(segment) / knot.segments;
    const Vector here = middle(t);
    const Vector forward = normalized(middle(t + 1e-4) - middle(t - 1e-4));
    const Vector side = normalized(cross(forward, {here.x, 0, here.z}));
    const Vector up = cross(side, forward);
    for (int i = 0; i < knot.sides; ++i) {
      const double angle = 2 * pi * i / knot.sides;
      const Vector normal = kit::portable_cos(angle) * side + kit::portable_sin(angle) * up;
      mesh.points.push_back(here + knot.tube * normal);
      mesh.normals.push_back(normal);
    }
  }
  const auto corner = [&](int segment, int i) {
    const int place = segment % knot.segments * knot.sides + i % knot.sides;
    return Mesh::Corner{static_cast<std::uint32_t>(place), place};
  };
  for (int segment = 0; segment < knot.segments; ++segment) {
    for (int i = 0; i < knot.sides; ++i) {
      const Mesh::Corner a = corner(segment, i), b = corner(segment + 1, i);
      const Mesh::Corner c = corner(segment + 1, i + 1), d = corner(segment, i + 1);
      mesh.faces.push_back({a, b, c});
      mesh.faces.push_back({a, c, d});
    }
  }
  return add_mesh(scene, mesh, 1, knot.turn, knot.centre, knot.material);
}

Status add_mesh(Scene& scene, const Mesh& mesh, double scale, double turn, Vector move,
                std::uint32_t material) {
  TRY(room_for(scene, static_cast<std::int64_t>(mesh.faces.size())));
  const double cosine = kit::portable_cos(turn);
  const double sine = kit::portable_sin(turn);
  const auto point = [&](const Mesh::Corner& corner) {
    return move + scale * turned(mesh.points[corner.point], cosine, sine);
  };
  for (const Mesh::Face& face : mesh.faces) {
    std::int32_t first_normal = -1;
    if (face[0].normal >= 0 && face[1].normal >= 0 && face[2].normal >= 0) {
      first_normal = static_cast<std::int32_t>(scene.normals.size());
      for (const Mesh::Corner& corner : face) {
        scene.normals.push_back(turned(mesh.normals[static_cast<std::size_t>(corner.normal)], cosine, sine));
      }
    }
    scene.add_triangle(point(face[0]), point(face[1]), point(face[2]), material, first_normal);
  }
  return {};
}

}  // namespace gleaner::raytrace
