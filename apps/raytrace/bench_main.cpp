// Rays a second of processor time, for tools/bench: the eye's rays and the shadow rays of where they meet
// something, the same rays for this tracer (doubles, the same bits everywhere) and, where it is installed,
// for Embree (floats, this processor's widest instructions; Wald et al. 2014). A line: SCENE PRIMITIVES RAYS
// OURS [EMBREE, and the part of the rays on which both agree].
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "apps/raytrace/scene_file.h"
#include "apps/raytrace/tracer.h"
#ifdef GLEANER_EMBREE
#include <embree3/rtcore.h>
#endif

namespace gleaner::raytrace {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int repetitions = 3;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What is asked of a tracer: how far the eye's rays go, and which shadow rays are free.
struct Rays {
  std::vector<Ray> eye;
  std::vector<Ray> shadow;
  std::vector<double> shadow_length;
  double minimum = 0;
};

struct Answers {
  std::vector<float> distance;  // of the eye's; infinite: nothing
  std::vector<char> dark;       // of the shadows'
};

// The planes, which no tree holds: alike for both.
double nearest_plane(const Scene& scene, const Ray& ray, double minimum) {
  double nearest = infinite;
  for (const Plane& plane : scene.planes) nearest = std::min(nearest, intersect(plane, ray, minimum));
  return nearest;
}

class Ours {
 public:
  explicit Ours(const Scene& scene) : scene_(scene), tracer_(scene, {}, Search::tree), tree_(scene) {}

  void trace(const Rays& rays, Answers& answers) const {
    Work work;
    for (std::size_t i = 0; i < rays.eye.size(); ++i)
      answers.distance[i] = static_cast<float>(tracer_.nearest(rays.eye[i], 0, work).distance);
    for (std::size_t i = 0; i < rays.shadow.size(); ++i)
      answers.dark[i] = dark(rays.shadow[i], rays.shadow_length[i], rays.minimum);
  }

 private:
  [[nodiscard]] bool dark(const Ray& ray, double distance, double minimum) const {
    if (nearest_plane(scene_, ray, minimum) < distance) return true;
    bool met = false;
    double limit = distance;
    tree_.walk(ray, limit, [&](std::uint32_t index) {
      double u = 0;
      double v = 0;
      met = intersect(scene_, index, ray, minimum, u, v) < distance;
      return met;
    });
    return met;
  }

  const Scene& scene_;
  const Tracer tracer_;
  const Tree tree_;
};

// A ray through the middle of every pixel; from where it meets something one to each light in front.
Rays rays_of(const Scene& scene, std::int64_t width, std::int64_t height) {
  const Camera& camera = scene.camera;
  const Vector forward = normalized(camera.to - camera.from);
  const double step = camera.height / static_cast<double>(2 * height);
  const Vector right = step * normalized(cross(forward, camera.up));
  const Vector down = step * normalized(cross(forward, right));
  const Tracer tracer(scene, {}, Search::tree);
  Rays rays;
  rays.minimum = 1e-4 * length(camera.to - camera.from);
  Work work;
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const Vector offset = static_cast<double>(2 * column + 1 - width) * right +
                            static_cast<double>(2 * row + 1 - height) * down;
      rays.eye.emplace_back(camera.from, normalized(forward + offset));
      const Hit hit = tracer.nearest(rays.eye.back(), 0, work);
      if (!hit.valid()) continue;
      const Vector point = camera.from + hit.distance * rays.eye.back().direction;
      for (const Light& light : scene.lights) {
        const Vector towards = light.distant ? light.direction : light.position - point;
        rays.shadow.emplace_back(point, normalized(towards));
        rays.shadow_length.push_back(light.distant ? 1e6 : length(towards));
      }
    }
  }
  return rays;
}

#ifdef GLEANER_EMBREE
class Embree {
 public:
  explicit Embree(const Scene& scene)
      : planes_(scene), device_(rtcNewDevice("threads=1")), scene_(rtcNewScene(device_)) {
    if (!scene.triangles.empty()) add_triangles(scene);
    if (!scene.spheres.empty()) add_spheres(scene);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_HIGH);
    rtcCommitScene(scene_);
  }
  ~Embree() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  Embree(const Embree&) = delete;
  Embree& operator=(const Embree&) = delete;

  void trace(const Rays& rays, Answers& answers) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (std::size_t i = 0; i < rays.eye.size(); ++i) {
      RTCRayHit query{};
      fill(query.ray, rays.eye[i], 0, nearest_plane(planes_, rays.eye[i], 0));
      query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene_, &context, &query);
      answers.distance[i] = query.ray.tfar;
    }
    for (std::size_t i = 0; i < rays.shadow.size(); ++i) {
      answers.dark[i] = nearest_plane(planes_, rays.shadow[i], rays.minimum) < rays.shadow_length[i];
      if (answers.dark[i]) continue;
      RTCRay query{};
      fill(query, rays.shadow[i], rays.minimum, rays.shadow_length[i]);
      rtcOccluded1(scene_, &context, &query);
      answers.dark[i] = query.tfar < 0;
    }
  }

 private:
  static void fill(RTCRay& query, const Ray& ray, double near, double far) {
    query.org_x = static_cast<float>(ray.origin.x);
    query.org_y = static_cast<float>(ray.origin.y);
    query.org_z = static_cast<float>(ray.origin.z);
    query.dir_x = static_cast<float>(ray.direction.x);
    query.dir_y = static_cast<float>(ray.direction.y);
    query.dir_z = static_cast<float>(ray.direction.z);
    query.tnear = static_cast<float>(near);
    query.tfar = static_cast<float>(far);
    query.mask = ~0U;
  }
  static void put(float* to, Vector v) {
    to[0] = static_cast<float>(v.x);
    to[1] = static_cast<float>(v.y);
    to[2] = static_cast<float>(v.z);
  }
  void add(RTCGeometry geometry) {
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
  }
  void add_triangles(const Scene& scene) {
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    const std::size_t count = scene.triangles.size();
    auto* corners = static_cast<float*>(rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), 3 * count));
    auto* indices = static_cast<unsigned*>(rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), count));
    for (std::size_t i = 0; i < count; ++i) {
      const Triangle& triangle = scene.triangles[i];
      put(corners + 9 * i, triangle.corner);
      put(corners + 9 * i + 3, triangle.corner + triangle.edge1);
      put(corners + 9 * i + 6, triangle.corner + triangle.edge2);
      for (unsigned corner = 0; corner < 3; ++corner)
        indices[3 * i + corner] = static_cast<unsigned>(3 * i) + corner;
    }
    add(geometry);
  }
  void add_spheres(const Scene& scene) {
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    auto* spheres = static_cast<float*>(rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, 4 * sizeof(float), scene.spheres.size()));
    for (std::size_t i = 0; i < scene.spheres.size(); ++i) {
      put(spheres + 4 * i, scene.spheres[i].centre);
      spheres[4 * i + 3] = static_cast<float>(scene.spheres[i].radius);
    }
    add(geometry);
  }

  const Scene& planes_;
  RTCDevice device_;
  RTCScene scene_;
};
#endif

template <typename Tracing>
double rays_a_second(const Tracing& tracing, const Rays& rays, Answers& answers) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double before = processor_seconds();
    tracing.trace(rays, answers);
    best = std::max(
        best, static_cast<double>(rays.eye.size() + rays.shadow.size()) / (processor_seconds() - before));
  }
  return best;
}

void measure(const char* name) {
  const auto scene = parse_scene(bundled_scene(name), [](const std::string&) -> Result<Bytes> {
    return Error{ErrorKind::not_found, "bundled scenes have no mesh files"};
  });
  const Rays rays = rays_of(scene.value(), 840, 640);
  Answers ours{std::vector<float>(rays.eye.size()), std::vector<char>(rays.shadow.size())};
  const double rate = rays_a_second(Ours(*scene), rays, ours);
  std::printf("%s %zu %zu %.0f", name, scene->primitives.size(), rays.eye.size() + rays.shadow.size(), rate);
#ifdef GLEANER_EMBREE
  Answers theirs = ours;
  const double other = rays_a_second(Embree(*scene), rays, theirs);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < rays.eye.size(); ++i) {
    const float a = ours.distance[i], b = theirs.distance[i];
    alike += a == b || std::abs(a - b) <= 1e-3F * std::abs(a);
  }
  for (std::size_t i = 0; i < rays.shadow.size(); ++i) alike += ours.dark[i] == theirs.dark[i];
  std::printf(" %.0f %.5f", other,
              static_cast<double>(alike) / static_cast<double>(rays.eye.size() + rays.shadow.size()));
#endif
  std::printf("\n");
}

}  // namespace
}  // namespace gleaner::raytrace

int main() {
  for (const char* scene : {"A", "B", "C", "D"}) gleaner::raytrace::measure(scene);
}
