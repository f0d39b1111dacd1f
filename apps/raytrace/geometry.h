// Rays against boxes, spheres, triangles and planes. Everything is in doubles; distances are along unit
// directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "apps/raytrace/scene.h"

namespace gleaner::raytrace {

struct Ray {
  Vector origin;
  Vector direction;  // unit
  Vector inverse;    // 1 / direction, huge instead of infinite

  Ray(Vector o, Vector d) : origin(o), direction(d), inverse{invert(d.x), invert(d.y), invert(d.z)} {}

 private:
  static double invert(double x) { return 1 / (std::abs(x) < 1e-200 ? std::copysign(1e-200, x) : x); }
};

inline constexpr std::uint32_t no_primitive = std::numeric_limits<std::uint32_t>::max();

// Planes have the indices after the other primitives.
struct Hit {
  double distance = std::numeric_limits<double>::infinity();
  std::uint32_t primitive = no_primitive;
  double u = 0, v = 0;  // where in a triangle

  [[nodiscard]] bool valid() const { return primitive != no_primitive; }
  // Nearer, or as near with a lower index: the order in which primitives are tried does not matter.
  [[nodiscard]] bool behind(double other_distance, std::uint32_t other_primitive) const {
    return other_distance < distance || (other_distance == distance && other_primitive < primitive);
  }
};

struct Box {
  Vector low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
             std::numeric_limits<double>::infinity()};
  Vector high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity()};

  void add(const Box& other) {
    low = least(low, other.low);
    high = greatest(high, other.high);
  }
  [[nodiscard]] bool contains(Vector p) const {
    return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z >= low.z && p.z <= high.z;
  }
  [[nodiscard]] double half_area() const {
    const Vector size = high - low;
    return size.x * size.y + size.y * size.z + size.z * size.x;
  }

  // Where the ray enters, if it does so before `limit`; infinity if it misses. The exit is widened by a few
  // roundings (Ize 2013), so that no primitive inside is ever missed because of its box.
  [[nodiscard]] double enter(const Ray& ray, double limit) const {
    const double x1 = (low.x - ray.origin.x) * ray.inverse.x, x2 = (high.x - ray.origin.x) * ray.inverse.x;
    const double y1 = (low.y - ray.origin.y) * ray.inverse.y, y2 = (high.y - ray.origin.y) * ray.inverse.y;
    const double z1 = (low.z - ray.origin.z) * ray.inverse.z, z2 = (high.z - ray.origin.z) * ray.inverse.z;
    const double near =
        std::max(std::max(std::min(x1, x2), std::min(y1, y2)), std::max(std::min(z1, z2), 0.0));
    const double far = std::min(std::min(std::max(x1, x2), std::max(y1, y2)), std::max(z1, z2));
    constexpr double slack = 1 + 1e-14;
    return near <= far * slack && near <= limit * slack ? near : std::numeric_limits<double>::infinity();
  }
};

// A little larger than the primitive, so that rounding in the intersection cannot leave it.
[[nodiscard]] inline Box padded(Box box) {
  const Vector size = greatest(box.high, -box.low);
  const double margin = 1e-9 * (1 + std::max({std::abs(size.x), std::abs(size.y), std::abs(size.z)}));
  const Vector pad{margin, margin, margin};
  return {box.low - pad, box.high + pad};
}

[[nodiscard]] inline Box box_of(const Sphere& sphere) {
  const Vector r{sphere.radius, sphere.radius, sphere.radius};
  return padded({sphere.centre - r, sphere.centre + r});
}

[[nodiscard]] inline Box box_of(const Triangle& triangle) {
  const Vector b = triangle.corner + triangle.edge1;
  const Vector c = triangle.corner + triangle.edge2;
  return padded({least(triangle.corner, least(b, c)), greatest(triangle.corner, greatest(b, c))});
}

// The first distance >= minimum at which the ray meets the sphere; infinity if none.
[[nodiscard]] inline double intersect(const Sphere& sphere, const Ray& ray, double minimum) {
  const Vector towards = sphere.centre - ray.origin;
  const double middle = dot(towards, ray.direction);
  const Vector aside = towards - middle * ray.direction;
  const double square = sphere.radius * sphere.radius - dot(aside, aside);
  if (!(square >= 0)) return std::numeric_limits<double>::infinity();
  const double half = std::sqrt(square);
  if (middle - half >= minimum) return middle - half;
  return middle + half >= minimum ? middle + half : std::numeric_limits<double>::infinity();
}

// Moeller and Trumbore 1997, both faces. A hit that rounding carried out of the triangle's box is none, so
// that a tree of boxes and a plain loop agree to the bit.
[[nodiscard]] inline double intersect(const Triangle& triangle, const Ray& ray, double minimum, double& u,
                                      double& v) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const Vector p = cross(ray.direction, triangle.edge2);
  const double determinant = dot(triangle.edge1, p);
  if (determinant == 0) return none;
  const double inverse = 1 / determinant;
  const Vector s = ray.origin - triangle.corner;
  const double hit_u = dot(s, p) * inverse;
  if (!(hit_u >= 0 && hit_u <= 1)) return none;
  const Vector q = cross(s, triangle.edge1);
  const double hit_v = dot(ray.direction, q) * inverse;
  if (!(hit_v >= 0 && hit_u + hit_v <= 1)) return none;
  const double distance = dot(triangle.edge2, q) * inverse;
  if (!(distance >= minimum) || !box_of(triangle).contains(ray.origin + distance * ray.direction))
    return none;
  u = hit_u;
  v = hit_v;
  return distance;
}

[[nodiscard]] inline double intersect(const Plane& plane, const Ray& ray, double minimum) {
  const double slope = dot(plane.normal, ray.direction);
  if (slope == 0) return std::numeric_limits<double>::infinity();
  const double distance = (plane.distance - dot(plane.normal, ray.origin)) / slope;
  return distance >= minimum ? distance : std::numeric_limits<double>::infinity();
}

// The primitive of that index, a sphere or a triangle; u and v are set in a triangle only.
[[nodiscard]] inline double intersect(const Scene& scene, std::uint32_t index, const Ray& ray, double minimum,
                                      double& u, double& v) {
  const Primitive& primitive = scene.primitives[index];
  return primitive.kind == Primitive::Kind::sphere
             ? intersect(scene.spheres[primitive.place], ray, minimum)
             : intersect(scene.triangles[primitive.place], ray, minimum, u, v);
}

}  // namespace gleaner::raytrace
