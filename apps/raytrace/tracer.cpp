#include "apps/raytrace/tracer.h"

#include <array>

#include "apps/kit/portable_math.h"
#include "apps/raytrace/optics.h"
#include "apps/raytrace/sampling.h"

namespace gleaner::raytrace {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double weight_min = 1.0 / 512;  // what adds less than half a step of brightness is not followed
constexpr std::size_t glass_max = 32;     // a light behind more glass than this is dark

}  // namespace

Tracer::Tracer(const Scene& scene, Picture picture, Search search, const std::vector<Camera>& cameras)
    : scene_(scene), picture_(picture), search_(search), tree_(scene) {
  for (const Camera& camera : cameras) views_.push_back(view_of(camera, picture.height));
  if (views_.empty()) views_.push_back(view_of(scene.camera, picture.height));
  double reach = 1;
  for (const View& view : views_) {
    const Vector& from = view.camera.from;
    reach = std::max({reach, std::abs(from.x), std::abs(from.y), std::abs(from.z)});
  }
  if (!scene.primitives.empty()) {
    const Box box = tree_.bounds();
    reach = std::max({reach, largest(box.high), -std::min({box.low.x, box.low.y, box.low.z})});
  }
  minimum_ = 1e-8 * reach;
}

Tracer::View Tracer::view_of(const Camera& camera, std::int64_t height) {
  View view{camera, {}, {}, {}, 1};
  view.forward = normalized(camera.to - camera.from);
  view.focus = camera.focus > 0 ? camera.focus : length(camera.to - camera.from);
  view.right = normalized(cross(view.forward, camera.up));
  view.down = cross(view.forward, view.right);
  const double half_step = camera.height / static_cast<double>(2 * height);
  view.right = half_step * view.right;
  view.down = half_step * view.down;
  return view;
}

template <typename Visit>
void Tracer::walk(const Ray& ray, double& limit, Work& work, Visit&& visit) const {
  switch (search_) {
    case Search::tree:
      work.boxes += tree_.walk(ray, limit, visit);
      return;
    case Search::all_primitives:
      for (std::uint32_t i = 0; i < scene_.primitives.size(); ++i) {
        if (visit(i)) return;
      }
      return;
  }
}

Hit Tracer::nearest(const Ray& ray, double minimum, Work& work) const {
  Hit hit;
  ++work.rays;
  for (std::size_t i = 0; i < scene_.planes.size(); ++i) {
    const double distance = intersect(scene_.planes[i], ray, minimum);
    const auto index = static_cast<std::uint32_t>(scene_.primitives.size() + i);
    if (distance < infinite && hit.behind(distance, index)) hit = {distance, index, 0, 0};
  }
  walk(ray, hit.distance, work, [&](std::uint32_t index) {
    ++work.primitives;
    double u = 0;
    double v = 0;
    const double distance = intersect(scene_, index, ray, minimum, u, v);
    if (distance < infinite && hit.behind(distance, index)) hit = {distance, index, u, v};
    return false;
  });
  return hit;
}

Vector Tracer::visible(const Ray& ray, double distance, Work& work) const {
  ++work.rays;
  for (const Plane& plane : scene_.planes) {
    if (intersect(plane, ray, minimum_) < distance) return {};
  }
  std::array<std::uint32_t, glass_max> glass{};
  std::size_t count = 0;
  bool dark = false;
  walk(ray, distance, work, [&](std::uint32_t index) {
    ++work.primitives;
    double u = 0;
    double v = 0;
    if (!(intersect(scene_, index, ray, minimum_, u, v) < distance)) return false;
    dark = !scene_.materials[scene_.primitives[index].material].glass || count == glass_max;
    if (!dark) glass[count++] = index;
    return dark;
  });
  if (dark) return {};
  // In the order of their indices, not in that of the walk: rounding depends on it.
  std::sort(glass.begin(), glass.begin() + static_cast<std::ptrdiff_t>(count));
  Vector part{1, 1, 1};
  for (std::size_t i = 0; i < count; ++i) {
    part = part * scene_.materials[scene_.primitives[glass[i]].material].shadow;
  }
  return part;
}

Vector Tracer::sky(Vector direction) const {
  const Sky& sky = scene_.sky;
  if (direction.y < 0) return mix(sky.horizon, sky.ground, std::min(1.0, -12 * direction.y));
  const double up = std::sqrt(direction.y);
  Vector colour = mix(sky.horizon, sky.zenith, up);
  const double towards = dot(direction, sky.glow_direction);
  if (towards > 0) colour += sky.glow_colour * power(towards, sky.glow_power);
  return colour;
}

Tracer::Surface Tracer::surface_at(const Hit& hit, const Ray& ray) const {
  Surface surface;
  surface.point = ray.origin + hit.distance * ray.direction;
  Vector normal;
  if (hit.primitive >= scene_.primitives.size()) {
    const Plane& plane = scene_.planes[hit.primitive - scene_.primitives.size()];
    surface.material = &scene_.materials[plane.material];
    normal = plane.normal;
  } else {
    const Primitive& primitive = scene_.primitives[hit.primitive];
    surface.material = &scene_.materials[primitive.material];
    if (primitive.kind == Primitive::Kind::sphere) {
      const Sphere& sphere = scene_.spheres[primitive.place];
      normal = (surface.point - sphere.centre) * (1 / sphere.radius);
    } else {
      const Triangle& triangle = scene_.triangles[primitive.place];
      normal = normalized(cross(triangle.edge1, triangle.edge2));
      if (triangle.normals >= 0) {
        const Vector* corners = &scene_.normals[static_cast<std::size_t>(triangle.normals)];
        const Vector smooth = (1 - hit.u - hit.v) * corners[0] + hit.u * corners[1] + hit.v * corners[2];
        // A smooth normal is used only where it does not turn the surface's back to the eye.
        const bool same_side = (dot(smooth, ray.direction) < 0) == (dot(normal, ray.direction) < 0);
        if (same_side && dot(smooth, smooth) > 1e-12) normal = normalized(smooth);
      }
    }
  }
  if (surface.material->ripple_height > 0) {
    const Vector waved = rippled(normal, surface.point, *surface.material, hit.distance);
    if ((dot(waved, ray.direction) < 0) == (dot(normal, ray.direction) < 0)) normal = waved;
  }
  surface.inside = dot(normal, ray.direction) > 0;
  surface.normal = surface.inside ? -normal : normal;
  return surface;
}

Vector Tracer::from_light(const Light& light, const Surface& surface, const Ray& ray, Vector diffuse,
                          double across_u, double across_v, Work& work) const {
  Vector to_light = light.distant ? light.direction : light.position - surface.point;
  double distance = light.distant ? infinite : length(to_light);
  if (!(distance > minimum_)) return {};
  if (light.radius > 0) {
    Vector a;
    Vector b;
    tangents(light.distant ? to_light : to_light * (1 / distance), a, b);
    to_light += light.radius * (across_u * a + across_v * b);
    if (!light.distant) distance = length(to_light);
  }
  const Vector direction = normalized(to_light);
  const double cosine = dot(surface.normal, direction);
  if (!(cosine > 0)) return {};
  const Vector part = visible(Ray(surface.point, direction), distance - 2 * minimum_, work);
  if (part == Vector{}) return {};
  Vector scattered = cosine * diffuse;
  if (surface.material->highlight > 0) {  // Blinn 1977
    const double half = dot(surface.normal, normalized(direction - ray.direction));
    if (half > 0) {
      const double shine = surface.material->highlight * power(half, surface.material->shininess);
      scattered += Vector{shine, shine, shine};
    }
  }
  const double falloff = light.distant ? 1 : 1 / (distance * distance);
  return falloff * (light.colour * part * scattered);
}

Vector Tracer::from_sky(const Surface& surface, double across_u, double across_v, Work& work) const {
  if (!scene_.ambient_shadows) {
    const Sky& sky = scene_.sky;
    return scene_.ambient * mix(sky.ground, mix(sky.horizon, sky.zenith, 0.5), 0.5 + 0.5 * surface.normal.y);
  }
  Vector a;
  Vector b;
  tangents(surface.normal, a, b);
  const double height = std::sqrt(std::max(0.0, 1 - across_u * across_u - across_v * across_v));
  const Vector direction = normalized(across_u * a + across_v * b + height * surface.normal);
  const Vector part = visible(Ray(surface.point, direction), infinite, work);
  return part == Vector{} ? Vector{} : scene_.ambient * part * sky(direction);
}

Vector Tracer::lit(const Surface& surface, const Ray& ray, const Path& path, Vector diffuse,
                   Work& work) const {
  const int samples = path.depth == 0 ? scene_.shadow_samples : 1;
  const std::uint64_t hash = mixed(path.pixel ^ mixed(path.branch));
  Vector sum;
  for (int i = 0; i < samples; ++i) {
    const int index = path.index * samples + i;
    for (std::size_t l = 0; l < scene_.lights.size(); ++l) {
      const Disc across = on_disc(spread(Use::light, index, mixed(hash + l)));
      sum += from_light(scene_.lights[l], surface, ray, diffuse, across.x, across.y, work);
    }
    if (diffuse == Vector{}) continue;
    const Disc across = on_disc(spread(Use::light, index, mixed(hash + scene_.lights.size())));
    sum += diffuse * from_sky(surface, across.x, across.y, work);
  }
  return sum * (1.0 / samples);
}

Vector Tracer::reflected(const Surface& surface, const Ray& ray, const Path& path, double weight,
                         Work& work) const {
  if (path.depth >= scene_.depth || path.weight * weight < weight_min) return {};
  const Vector direction = ray.direction - 2 * dot(ray.direction, surface.normal) * surface.normal;
  Path next = path;
  next.branch = path.branch * 2;
  next.depth = path.depth + 1;
  next.weight = path.weight * weight;
  return trace(Ray(surface.point, normalized(direction)), next, work);
}

Vector Tracer::through_glass(const Surface& surface, const Ray& ray, const Path& path, Work& work) const {
  const double from_index = surface.inside ? surface.material->index : 1;
  const double to_index = surface.inside ? 1 : surface.material->index;
  const double ratio = from_index / to_index;
  const double cosine = std::min(1.0, -dot(ray.direction, surface.normal));
  const double square = 1 - ratio * ratio * (1 - cosine * cosine);
  if (square <= 0) return reflected(surface, ray, path, 1, work);  // total reflection
  const double cosine_through = std::sqrt(square);
  const double reflection = fresnel(cosine, cosine_through, from_index, to_index);
  Vector colour = reflection * reflected(surface, ray, path, reflection, work);
  if (path.depth < scene_.depth && path.weight * (1 - reflection) >= weight_min) {
    Path next = path;
    next.branch = path.branch * 2 + 1;
    next.depth = path.depth + 1;
    next.weight = path.weight * (1 - reflection);
    const Vector direction = ratio * ray.direction + (ratio * cosine - cosine_through) * surface.normal;
    colour += (1 - reflection) * trace(Ray(surface.point, normalized(direction)), next, work);
  }
  return colour;
}

Vector Tracer::trace(const Ray& ray, const Path& path, Work& work) const {
  const Hit hit = nearest(ray, path.depth == 0 ? 0 : minimum_, work);
  if (!hit.valid()) return sky(ray.direction);
  const Surface surface = surface_at(hit, ray);
  const Material& material = *surface.material;
  Vector colour = material.glow;
  if (material.glass) {
    if (!surface.inside && material.highlight > 0) colour += lit(surface, ray, path, {}, work);
    colour += through_glass(surface, ray, path, work);
    if (surface.inside) return colour * absorbed(material.absorption, hit.distance);
  } else {
    Vector diffuse = material.colour;
    if (material.checker_size > 0) {
      const double squares = std::floor(surface.point.x / material.checker_size) +
                             std::floor(surface.point.z / material.checker_size);
      if (squares - 2 * std::floor(squares / 2) == 1) diffuse = material.checker_colour;
    }
    if (material.mirror == Vector{}) {
      colour += lit(surface, ray, path, diffuse, work);
    } else {
      const Vector mirror = schlick(material.mirror, std::min(1.0, -dot(ray.direction, surface.normal)));
      colour += lit(surface, ray, path, diffuse * (Vector{1, 1, 1} - mirror), work);
      colour += mirror * reflected(surface, ray, path, largest(mirror), work);
    }
  }
  if (scene_.haze > 0) {
    const double clear = kit::portable_exp(-scene_.haze * hit.distance);
    colour = mix(sky({ray.direction.x, std::max(0.0, ray.direction.y), ray.direction.z}), colour, clear);
  }
  return colour;
}

Vector Tracer::sample(std::int64_t column, std::int64_t row, int index, Work& work, std::size_t frame) const {
  Path path;
  path.pixel = mixed(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column));
  path.index = index;
  Square within{0.5, 0.5};
  if (picture_.samples > 1) within = spread(Use::pixel, index, mixed(path.pixel ^ 1));
  const double across = static_cast<double>(2 * column - picture_.width) + 2 * within.u;
  const double below = static_cast<double>(2 * row - picture_.height) + 2 * within.v;
  const View& view = views_[frame];
  const Vector offset = across * view.right + below * view.down;
  const Camera& camera = view.camera;
  if (camera.orthographic) return trace(Ray(camera.from + offset, view.forward), path, work);
  const Vector direction = view.forward + offset;
  if (camera.aperture <= 0) return trace(Ray(camera.from, normalized(direction)), path, work);
  const Disc lens = on_disc(spread(Use::lens, index, mixed(path.pixel ^ 2)));
  const Vector from =
      camera.from + camera.aperture * (lens.x * normalized(view.right) + lens.y * normalized(view.down));
  return trace(Ray(from, normalized(camera.from + view.focus * direction - from)), path, work);
}

Vector Tracer::pixel(std::int64_t column, std::int64_t row, Work& work, std::size_t frame) const {
  Vector sum;
  for (int i = 0; i < picture_.samples; ++i) sum += sample(column, row, i, work, frame);
  return sum * (1.0 / picture_.samples);
}

}  // namespace gleaner::raytrace
