// Whitted's recursive ray tracing (1980): surfaces lit by every light they see, mirrors and glass followed
// further, down to the scene's depth. Sub-pixel, lens and light samples come from one low-discrepancy
// sequence, shifted by a hash of the pixel: a pixel's colour depends on the scene, the picture's size and the
// pixel alone. Const and thread-safe; one Work per thread.
#pragma once

#include <cstdint>

#include "apps/raytrace/scene.h"
#include "apps/raytrace/tree.h"

namespace gleaner::raytrace {

// What was done, as counts that are the same on every machine.
struct Work {
  std::int64_t rays = 0;
  std::int64_t boxes = 0;
  std::int64_t primitives = 0;
  // In units of about one box test.
  [[nodiscard]] double cost() const {
    return static_cast<double>(boxes) + 1.5 * static_cast<double>(primitives) +
           12 * static_cast<double>(rays);
  }
};

enum class Search { tree, all_primitives };

struct Picture {
  std::int64_t width = 840, height = 640;
  int samples = 16;
};

class Tracer {
 public:
  // `scene` must outlive the tracer. A camera a frame; none: one frame by the scene's.
  Tracer(const Scene& scene, Picture picture, Search search, const std::vector<Camera>& cameras = {});

  // Linear colour of one sample of a pixel (row 0 on top). REQUIRES: a frame that has a camera.
  [[nodiscard]] Vector sample(std::int64_t column, std::int64_t row, int index, Work& work,
                              std::size_t frame = 0) const;
  // The pixel's mean colour.
  [[nodiscard]] Vector pixel(std::int64_t column, std::int64_t row, Work& work, std::size_t frame = 0) const;
  // Nearest hit of a ray; for tests too.
  [[nodiscard]] Hit nearest(const Ray& ray, double minimum, Work& work) const;

 private:
  // Which sample of which pixel a path belongs to, and which of its branches it is.
  struct Path {
    std::uint64_t pixel = 0;
    int index = 0;
    std::uint32_t branch = 1;
    int depth = 0;
    double weight = 1;  // what it can still add to the pixel
  };
  struct Surface {
    Vector point;
    Vector normal;  // unit, towards the ray's origin
    bool inside = false;
    const Material* material = nullptr;
  };

  [[nodiscard]] Vector trace(const Ray& ray, const Path& path, Work& work) const;
  [[nodiscard]] Surface surface_at(const Hit& hit, const Ray& ray) const;
  // Light from the lights and the sky that the surface scatters to the ray's origin.
  [[nodiscard]] Vector lit(const Surface& surface, const Ray& ray, const Path& path, Vector diffuse,
                           Work& work) const;
  [[nodiscard]] Vector through_glass(const Surface& surface, const Ray& ray, const Path& path,
                                     Work& work) const;
  [[nodiscard]] Vector reflected(const Surface& surface, const Ray& ray, const Path& path, double weight,
                                 Work& work) const;
  // The part of the light that reaches `origin` from `distance` away; glass lets its colour through.
  [[nodiscard]] Vector visible(const Ray& ray, double distance, Work& work) const;
  [[nodiscard]] Vector from_light(const Light& light, const Surface& surface, const Ray& ray, Vector diffuse,
                                  double across_u, double across_v, Work& work) const;
  [[nodiscard]] Vector from_sky(const Surface& surface, double across_u, double across_v, Work& work) const;
  [[nodiscard]] Vector sky(Vector direction) const;
  template <typename Visit>
  void walk(const Ray& ray, double& limit, Work& work, Visit&& visit) const;

  const Scene& scene_;
  const Picture picture_;
  const Search search_;
  const Tree tree_;
  struct View {
    Camera camera;
    Vector right, down;  // half a pixel of the picture at distance 1
    Vector forward;
    double focus = 1;
  };
  [[nodiscard]] static View view_of(const Camera& camera, std::int64_t height);

  double minimum_;  // distance from which a surface can be met: keeps rays from meeting where they start
  std::vector<View> views_;
};

}  // namespace gleaner::raytrace
