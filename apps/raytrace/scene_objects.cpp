#include "apps/raytrace/scene_objects.h"

#include "apps/raytrace/generators.h"

namespace gleaner::raytrace {
namespace {

constexpr double size_min = 1e-4;
constexpr double size_max = 1e5;

std::uint32_t material_named(JsonObject& object, const std::string& key, const std::string& name,
                             const MaterialNames& names) {
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  object.mistake(key, "there is no material '" + name + "'");
  return 0;
}

std::uint32_t read_material(JsonObject& object, const MaterialNames& names) {
  return material_named(object, "material", object.text("material", std::nullopt), names);
}

// "materials": ["a", "b"], used in turn.
Materials read_materials(JsonObject& object, const MaterialNames& names) {
  Materials materials;
  const JsonObject::Json* list = object.value("materials", true);
  if (list && list->is_array() && list->size() <= 64) {
    for (const auto& name : list->elements()) {
      materials.push_back(material_named(object, "materials", name.is_string() ? name.string() : "", names));
    }
  }
  if (materials.empty()) {
    if (list) object.mistake("materials", "must be a list of one to 64 names");
    materials.push_back(0);
  }
  return materials;
}

double read_turn(JsonObject& object) {
  return radians_per_degree * object.number("turn", -360, 360, 0);
}

Status add_mesh_file(Scene& scene, JsonObject& object, const MaterialNames& names, const MeshSource& meshes) {
  const std::string name = object.text("file", std::nullopt);
  const double scale = object.number("scale", 1e-6, 1e6, 1);
  const double turn = read_turn(object);
  const Vector move = object.point("move", Vector{});
  const bool smooth = object.boolean("smooth", false);
  const std::uint32_t material = read_material(object, names);
  if (name.empty()) return {};  // noted already
  TRY_ASSIGN(const Bytes bytes, meshes(name));
  auto mesh = parse_mesh(name, bytes);
  if (!mesh.ok()) return mesh.error().within(name);
  if (smooth) smooth_normals(*mesh);
  return add_mesh(scene, *mesh, scale, turn, move, material);
}

Status add_plane(Scene& scene, JsonObject& object, const MaterialNames& names) {
  Plane plane;
  plane.normal = object.direction("normal", Vector{0, 1, 0});
  plane.distance = dot(object.point("point", Vector{}), plane.normal);
  plane.material = read_material(object, names);
  if (plane.material < scene.materials.size() && scene.materials[plane.material].glass) {
    object.mistake("material", "a plane cannot be of glass: it has no other side");
  }
  if (scene.planes.size() == 64) return Error{ErrorKind::too_large, "the scene has more than 64 planes"};
  scene.planes.push_back(plane);
  return {};
}

Status add_triangle(Scene& scene, JsonObject& object, const MaterialNames& names) {
  const Vector a = object.point("a", std::nullopt);
  const Vector b = object.point("b", std::nullopt);
  const Vector c = object.point("c", std::nullopt);
  scene.add_triangle(a, b, c, read_material(object, names));
  return {};
}

Status add_flake(Scene& scene, JsonObject& object, const MaterialNames& names) {
  Flake flake;
  flake.centre = object.point("centre", std::nullopt);
  flake.radius = object.number("radius", size_min, size_max, std::nullopt);
  flake.levels = object.integer("levels", 0, 5, std::nullopt);
  flake.ratio = object.number("ratio", 0.05, 0.9, flake.ratio);
  flake.materials = read_materials(object, names);
  return add_flake(scene, flake);
}

Status add_scatter(Scene& scene, JsonObject& object, const MaterialNames& names) {
  Scatter scatter;
  const std::string shape = object.text("shape", "balls");
  if (shape != "balls" && shape != "boxes") object.mistake("shape", "must be \"balls\" or \"boxes\"");
  scatter.boxes = shape == "boxes";
  scatter.count = object.integer("count", 1, 5000, std::nullopt);
  scatter.seed = static_cast<std::uint64_t>(object.integer("seed", 0, 1'000'000'000, 1));
  scatter.centre = object.point("centre", Vector{});
  scatter.inner = object.number("inner", 0, size_max, 0);
  scatter.outer = object.number("outer", size_min, size_max, std::nullopt);
  scatter.size_low = object.number("smallest", size_min, size_max, std::nullopt);
  scatter.size_high = object.number("largest", size_min, size_max, std::nullopt);
  scatter.materials = read_materials(object, names);
  if (scatter.inner > scatter.outer) object.mistake("inner", "must not be above outer");
  if (scatter.size_low > scatter.size_high) object.mistake("smallest", "must not be above largest");
  if (!object.mistakes().texts.empty()) return {};
  return add_scatter(scene, scatter);
}

Status add_knot(Scene& scene, JsonObject& object, const MaterialNames& names) {
  Knot knot;
  knot.centre = object.point("centre", std::nullopt);
  knot.radius = object.number("radius", size_min, size_max, std::nullopt);
  knot.tube = object.number("tube", size_min, size_max, std::nullopt);
  knot.p = object.integer("p", 1, 20, knot.p);
  knot.q = object.integer("q", 1, 20, knot.q);
  knot.segments = object.integer("segments", 8, 4000, knot.segments);
  knot.sides = object.integer("sides", 3, 40, knot.sides);
  knot.turn = read_turn(object);
  knot.material = read_material(object, names);
  return add_knot(scene, knot);
}

Status add_sphere(Scene& scene, JsonObject& object, const MaterialNames& names) {
  const Vector centre = object.point("centre", std::nullopt);
  const double radius = object.number("radius", size_min, size_max, std::nullopt);
  scene.add_sphere(centre, radius, read_material(object, names));
  return {};
}

Status add_box(Scene& scene, JsonObject& object, const MaterialNames& names) {
  const Vector base = object.point("base", std::nullopt);
  const Vector size = object.vector("size", size_min, size_max, std::nullopt);
  const double turn = read_turn(object);
  return add_box(scene, base, size, turn, read_material(object, names));
}

Status add_pyramid(Scene& scene, JsonObject& object, const MaterialNames& names) {
  const Vector base = object.point("base", std::nullopt);
  const int layers = object.integer("layers", 1, 60, std::nullopt);
  const double radius = object.number("radius", size_min, size_max, std::nullopt);
  return add_pyramid(scene, base, layers, radius, read_materials(object, names));
}

Status add_ring(Scene& scene, JsonObject& object, const MaterialNames& names) {
  const Vector centre = object.point("centre", std::nullopt);
  const double ring_radius = object.number("ring_radius", size_min, size_max, std::nullopt);
  const int count = object.integer("count", 1, 10000, std::nullopt);
  const double radius = object.number("radius", size_min, size_max, std::nullopt);
  return add_ring(scene, centre, ring_radius, count, radius, read_materials(object, names));
}

}  // namespace

Status add_object(Scene& scene, JsonObject& object, const MaterialNames& names, const MeshSource& meshes) {
  if (scene.primitives.size() >= static_cast<std::size_t>(primitives_max)) {
    return Error{ErrorKind::too_large,
                 "the scene has more than " + std::to_string(primitives_max) + " primitives"};
  }
  const std::string type = object.text("type", std::nullopt);
  Status added;
  if (type == "sphere") {
    added = add_sphere(scene, object, names);
  } else if (type == "plane") {
    added = add_plane(scene, object, names);
  } else if (type == "triangle") {
    added = add_triangle(scene, object, names);
  } else if (type == "box") {
    added = add_box(scene, object, names);
  } else if (type == "mesh") {
    added = add_mesh_file(scene, object, names, meshes);
  } else if (type == "flake") {
    added = add_flake(scene, object, names);
  } else if (type == "scatter") {
    added = add_scatter(scene, object, names);
  } else if (type == "pyramid") {
    added = add_pyramid(scene, object, names);
  } else if (type == "ring") {
    added = add_ring(scene, object, names);
  } else if (type == "knot") {
    added = add_knot(scene, object, names);
  } else {
    object.mistake("type",
                   "must be sphere, plane, triangle, box, mesh, flake, scatter, pyramid, ring or knot");
    return {};
  }
  if (added.ok()) object.finish();
  return added;
}

}  // namespace gleaner::raytrace
