#include "apps/raytrace/scene_file.h"

#include "apps/kit/portable_math.h"
#include "apps/raytrace/scene_json.h"
#include "apps/raytrace/scene_objects.h"
#include "shared/base/limits.h"
#include "shared/json/text.h"

namespace gleaner::raytrace {
namespace {

using Json = json::Value;
constexpr double brightness_max = 1e6;
constexpr std::size_t materials_max = 256;
constexpr std::size_t lights_max = 16;
constexpr std::size_t objects_max = 20'000;
constexpr std::size_t keys_max = 1000;

double tangent(double angle) {
  return kit::portable_sin(angle) / kit::portable_cos(angle);
}

Camera read_camera(JsonObject object) {
  Camera camera;
  camera.from = object.point("from", camera.from);
  camera.to = object.point("to", camera.to);
  camera.up = object.direction("up", camera.up);
  const std::string projection = object.text("projection", "perspective");
  camera.orthographic = projection == "orthographic";
  if (camera.orthographic) {
    camera.height = object.number("height", 1e-4, 1e5, 4);
  } else {
    if (projection != "perspective")
      object.mistake("projection", "must be \"perspective\" or \"orthographic\"");
    camera.height = 2 * tangent(radians_per_degree / 2 * object.number("field_of_view", 0.1, 150, 40));
    camera.aperture = object.number("aperture", 0, 100, 0);
    camera.focus = object.number("focus", 0, 1e6, 0);
  }
  const Vector forward = camera.to - camera.from;
  if (length(forward) < 1e-6) {
    object.mistake("to", "must not be where the camera is");
    camera.to = camera.from + Vector{0, 0, 1};
  } else if (length(cross(normalized(forward), camera.up)) < 1e-6) {
    object.mistake("up", "must not be the direction of view");
  }
  object.finish();
  return camera;
}

CameraKey read_key(JsonObject object, const Camera& camera) {
  CameraKey key;
  key.from = object.point("from", std::nullopt);
  key.to = object.point("to", camera.to);
  object.finish();
  return key;
}

Sky read_sky(JsonObject object) {
  Sky sky;
  sky.horizon = object.colour("horizon", brightness_max, sky.horizon);
  sky.zenith = object.colour("zenith", brightness_max, sky.zenith);
  sky.ground = object.colour("ground", brightness_max, sky.ground);
  sky.glow_direction = object.direction("glow_direction", sky.glow_direction);
  sky.glow_colour = object.colour("glow_colour", brightness_max, Vector{});
  sky.glow_power = object.integer("glow_power", 1, 100000, sky.glow_power);
  object.finish();
  return sky;
}

Material read_material(JsonObject object) {
  Material material;
  material.colour = object.colour("colour", 1, material.colour);
  material.checker_colour = object.colour("checker_colour", 1, Vector{});
  material.checker_size = object.number("checker_size", 0, 1e5, 0);
  material.glow = object.colour("glow", brightness_max, Vector{});
  material.highlight = object.number("highlight", 0, 100, 0);
  material.shininess = object.integer("shininess", 1, 100000, material.shininess);
  material.mirror = object.colour("mirror", 1, Vector{});
  material.glass = object.boolean("glass", false);
  material.index = object.number("index", 1.01, 5, material.index);
  material.absorption = object.colour("absorption", 1e6, Vector{});
  material.shadow = object.colour("shadow", 1, material.shadow);
  material.ripple_height = object.number("ripple_height", 0, 1, 0);
  material.ripple_length = object.number("ripple_length", 1e-3, 1e5, 1);
  if (material.glass && object.has("mirror")) object.mistake("mirror", "glass reflects by its index alone");
  object.finish();
  return material;
}

Light read_light(JsonObject object) {
  Light light;
  light.distant = object.has("direction");
  if (light.distant) {
    light.direction = object.direction("direction", Vector{0, 1, 0});
    light.radius = tangent(radians_per_degree * object.number("angle", 0, 60, 0));
  } else {
    light.position = object.point("position", std::nullopt);
    light.radius = object.number("radius", 0, 1e5, 0);
  }
  light.colour = object.colour("colour", brightness_max, std::nullopt);
  object.finish();
  return light;
}

// Calls `read(entry, place)` for the entries of an array of at most `most`.
template <typename Read>
Status for_each_entry(JsonObject& root, const std::string& key, std::size_t most, Read&& read) {
  const Json* list = root.value(key);
  if (!list) return {};
  if (!list->is_array() || list->size() > most) {
    root.mistake(key, "must be a list of at most " + std::to_string(most));
    return {};
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    TRY(read((*list)[i], key + "[" + std::to_string(i) + "]"));
  }
  return {};
}

MaterialNames read_materials(JsonObject& root, Scene& scene, Mistakes& mistakes) {
  MaterialNames names;
  const Json* list = root.value("materials", true);
  if (!list) return names;
  if (!list->is_object() || list->size() > materials_max) {
    root.mistake("materials", "must be an object of at most 256 named materials");
    return names;
  }
  for (const auto& [name, json] : list->members()) {
    names[name] = static_cast<std::uint32_t>(scene.materials.size());
    scene.materials.push_back(read_material(JsonObject(json, "materials." + name.substr(0, 64), mistakes)));
  }
  return names;
}

Result<Json> parse_json(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(scene_bytes_max)) {
    return Error{ErrorKind::too_large, "the scene is larger than 16 MiB: put triangles into a mesh file"};
  }
  auto parsed = json::parse(text);
  if (!parsed.ok()) return parsed.error().within("the scene");
  return parsed;
}

}  // namespace

Result<Scene> parse_scene(std::string_view text, const MeshSource& meshes) {
  TRY_ASSIGN(const Json json, parse_json(text));
  Mistakes mistakes;
  JsonObject root(json, "", mistakes);
  Scene scene;
  if (root.integer("gleaner_scene", 1, 1, std::nullopt) != 1) mistakes.add("gleaner_scene", "must be 1");
  static_cast<void>(root.text("title", ""));  // for people
  if (const Json* camera = root.value("camera", true))
    scene.camera = read_camera({*camera, "camera", mistakes});
  TRY(for_each_entry(root, "path", keys_max, [&](const Json& entry, const std::string& place) -> Status {
    scene.path.push_back(read_key({entry, place, mistakes}, scene.camera));
    return {};
  }));
  if (scene.path.size() == 1) root.mistake("path", "must have at least two places");
  if (const Json* sky = root.value("sky")) scene.sky = read_sky({*sky, "sky", mistakes});
  scene.ambient = root.colour("ambient", 100, scene.ambient);
  scene.ambient_shadows = root.boolean("ambient_shadows", scene.ambient_shadows);
  scene.haze = root.number("haze", 0, 10, scene.haze);
  scene.exposure = root.number("exposure", 1e-6, 1e6, scene.exposure);
  scene.depth = root.integer("depth", 0, depth_max, scene.depth);
  scene.samples = root.integer("samples", 1, samples_max, scene.samples);
  scene.shadow_samples = root.integer("shadow_samples", 1, 64, scene.shadow_samples);
  const MaterialNames names = read_materials(root, scene, mistakes);
  TRY(for_each_entry(root, "lights", lights_max, [&](const Json& entry, const std::string& place) -> Status {
    scene.lights.push_back(read_light({entry, place, mistakes}));
    return {};
  }));
  TRY(for_each_entry(root, "objects", objects_max,
                     [&](const Json& entry, const std::string& place) -> Status {
                       JsonObject object(entry, place, mistakes);
                       const Status added = add_object(scene, object, names, meshes);
                       return added.ok() ? added : added.error().within(place);
                     }));
  root.finish();
  TRY(mistakes.status());
  return scene;
}

}  // namespace gleaner::raytrace
