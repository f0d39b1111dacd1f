#include "apps/raytrace/animation.h"

#include <algorithm>
#include <string>

#include "apps/kit/portable_math.h"

namespace gleaner::raytrace {
namespace {

Camera orbited(Camera camera, double degrees) {
  constexpr double radians = 0x1.1df46a2529d39p-6;  // of a degree
  const double sine = kit::portable_sin(degrees * radians), cosine = kit::portable_cos(degrees * radians);
  const Vector arm = camera.from - camera.to;
  camera.from = camera.to + Vector{cosine * arm.x + sine * arm.z, arm.y, cosine * arm.z - sine * arm.x};
  const Vector up = camera.up;
  camera.up = {cosine * up.x + sine * up.z, up.y, cosine * up.z - sine * up.x};
  return camera;
}

Vector between(Vector a, Vector b, Vector c, Vector d, double t) {
  return 0.5 *
         (2 * b + t * (c - a) + t * t * (2 * a - 5 * b + 4 * c - d) + t * t * t * (3 * b - a - 3 * c + d));
}

// `time` from 0 at the first place to 1 at the last.
Camera along(Camera camera, const std::vector<CameraKey>& path, double time) {
  const std::size_t legs = path.size() - 1;
  const double at = time * static_cast<double>(legs);
  const std::size_t leg = std::min(static_cast<std::size_t>(at), legs - 1);
  const double part = at - static_cast<double>(leg);
  const CameraKey& a = path[leg == 0 ? 0 : leg - 1];
  const CameraKey& b = path[leg];
  const CameraKey& c = path[leg + 1];
  const CameraKey& d = path[std::min(leg + 2, legs)];
  camera.from = between(a.from, b.from, c.from, d.from, part);
  camera.to = between(a.to, b.to, c.to, d.to, part);
  return camera;
}

bool looks_somewhere(const Camera& camera) {
  const Vector forward = camera.to - camera.from;
  return length(forward) >= 1e-6 && length(cross(normalized(forward), camera.up)) >= 1e-6;
}

}  // namespace

Result<std::vector<Camera>> cameras_of(const Scene& scene, const Animation& animation) {
  std::vector<Camera> cameras;
  for (std::int64_t frame = animation.first; frame <= animation.last; ++frame) {
    const auto number = static_cast<double>(frame);
    const auto frames = static_cast<double>(animation.frames);
    Camera camera = scene.camera;
    if (animation.orbit != 0)
      camera = orbited(camera, animation.orbit * (number / frames));
    else if (!scene.path.empty() && animation.frames > 1)
      camera = along(camera, scene.path, number / (frames - 1));
    if (!looks_somewhere(camera)) {
      return Error{ErrorKind::invalid, "at frame " + std::to_string(frame) +
                                           " the camera is at its target, or looks along its `up`"};
    }
    cameras.push_back(camera);
  }
  return cameras;
}

}  // namespace gleaner::raytrace
