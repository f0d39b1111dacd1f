// A scene ready to trace: flat arrays of primitives, materials and lights. Built by scene_file.h,
// generators.h and the mesh readers; a value that nobody changes while it is traced. Lengths are in the
// scene's own unit, angles in radians, colours linear with 1 as the white of a fully lit diffuse surface.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/raytrace/vector.h"

namespace gleaner::raytrace {

inline constexpr std::int64_t primitives_max = 400'000;  // about 200 MB with their tree
inline constexpr int depth_max = 16;
inline constexpr int samples_max = 1024;

struct Material {
  Vector colour{0.8, 0.8, 0.8};  // diffuse
  Vector checker_colour;         // of every other square, if checker_size > 0
  double checker_size = 0;
  Vector glow;                   // light of its own (it lights nothing else)
  double highlight = 0;          // strength of the lights' highlights
  int shininess = 50;            // their exponent
  Vector mirror;                 // reflected at right angles; grazing reflection grows to 1 (Schlick 1994)
  bool glass = false;            // refracts; Fresnel's equations divide the light
  double index = 1.5;            // of refraction
  Vector absorption;             // of glass, per unit of length
  Vector shadow{0.8, 0.8, 0.8};  // what of a light each face or ball of this glass lets through
  double ripple_height = 0;      // waves on the normal, as on water
  double ripple_length = 1;
};

struct Sphere {
  Vector centre;
  double radius = 1;
};

struct Triangle {
  Vector corner, edge1, edge2;  // corner, corner + edge1, corner + edge2
  std::int32_t normals = -1;    // the first of three corner normals in Scene::normals; -1: flat
};

struct Plane {
  Vector normal{0, 1, 0};  // unit
  double distance = 0;     // points p with dot(p, normal) == distance
  std::uint32_t material = 0;
};

// Where a primitive's data is. Its place in Scene::primitives is its index: ties of distance go to the lower
// one.
struct Primitive {
  enum class Kind : std::uint8_t { sphere, triangle } kind = Kind::sphere;
  std::uint32_t place = 0;  // in spheres or triangles
  std::uint32_t material = 0;
};

struct Light {
  bool distant = false;
  Vector position;    // of a near light
  Vector direction;   // unit, towards a distant one
  double radius = 0;  // of the shining disc; of a distant light: the tangent of its half angle
  Vector colour;      // irradiance of a distant light; of a near one at distance 1
};

struct Camera {
  Vector from{0, 1, -5}, to, up{0, 1, 0};
  bool orthographic = false;
  double height = 0.8;  // of the picture: at distance 1, or itself if orthographic
  double aperture = 0;  // radius of the lens
  double focus = 0;     // distance of sharpness; 0: that of `to`
};

struct Sky {
  Vector horizon{0.8, 0.85, 0.9}, zenith{0.25, 0.45, 0.8}, ground{0.2, 0.2, 0.2};
  Vector glow_direction{0, 1, 0};  // unit
  Vector glow_colour;              // around that direction, with cosine^glow_power
  int glow_power = 8;
};

// A place on the camera's way through an animation.
struct CameraKey {
  Vector from, to;
};

struct Scene {
  Camera camera;
  std::vector<CameraKey> path;  // at equal distances of time; empty: there is none
  Sky sky;
  Vector ambient{0.3, 0.3, 0.3};  // strength of the sky's light on surfaces
  bool ambient_shadows = true;    // does the sky's light have to reach the surface?
  double haze = 0;                // per unit of length, towards the colour of the horizon
  double exposure = 1;
  int depth = 5;           // reflections and refractions in a row
  int samples = 16;        // rays a pixel
  int shadow_samples = 1;  // rays a light where the eye sees a surface directly
  std::vector<Material> materials;
  std::vector<Light> lights;
  std::vector<Plane> planes;
  std::vector<Sphere> spheres;
  std::vector<Triangle> triangles;
  std::vector<Vector> normals;
  std::vector<Primitive> primitives;

  void add_sphere(Vector centre, double radius, std::uint32_t material) {
    primitives.push_back({Primitive::Kind::sphere, static_cast<std::uint32_t>(spheres.size()), material});
    spheres.push_back({centre, radius});
  }
  void add_triangle(Vector a, Vector b, Vector c, std::uint32_t material, std::int32_t first_normal = -1) {
    primitives.push_back({Primitive::Kind::triangle, static_cast<std::uint32_t>(triangles.size()), material});
    triangles.push_back({a, b - a, c - a, first_normal});
  }
};

}  // namespace gleaner::raytrace
