#include "apps/raytrace/generators.h"
#include "shared/base/random.h"
#include "tests/unit/apps/raytrace_samples.h"

namespace gleaner::raytrace {
namespace {

Result<Scene> read(const std::string& json, const std::map<std::string, std::string>& meshes = {}) {
  return parse_scene(json, [&](const std::string& name) -> Result<Bytes> {
    const auto found = meshes.find(name);
    if (found == meshes.end()) return Error{ErrorKind::not_found, "there is no input '" + name + "'"};
    return found->second;
  });
}

std::string with_objects(const std::string& objects) {
  return R"({"gleaner_scene": 1, "camera": {}, "materials": {"m": {}, "g": {"glass": true}}, "objects": [)" +
         objects + "]}";
}

std::string message(const std::string& json) {
  const auto scene = read(json);
  return scene.ok() ? "" : scene.error().message;
}

}  // namespace

TEST_CASE("The bundled scenes have 10, 100, 1000 and 10000 primitives, two lights and depth five") {
  std::size_t expected = 10;
  for (const char* name : {"A", "B", "C", "D"}) {
    const Scene scene = bundled(name);
    CHECK(scene.primitives.size() + scene.planes.size() == expected);
    CHECK(scene.lights.size() == 2);
    CHECK(scene.depth == 5);
    expected *= 10;
  }
  CHECK(bundled_scene("E").empty());
}

TEST_CASE("Scenes have no solids within others where glass would show it") {
  for (const char* name : {"A", "B", "C", "D"}) {
    const Scene scene = bundled(name);
    for (const Primitive& one : scene.primitives) {
      if (one.kind != Primitive::Kind::sphere || !scene.materials[one.material].glass) continue;
      const Sphere& ball = scene.spheres[one.place];
      for (const Sphere& other : scene.spheres) {
        if (&other == &ball) continue;
        INFO("scene " << name << ", glass ball at " << ball.centre.x << " " << ball.centre.y << " "
                      << ball.centre.z << ", other at " << other.centre.x << " " << other.centre.y << " "
                      << other.centre.z);
        REQUIRE(length(ball.centre - other.centre) > 0.99 * (ball.radius + other.radius));
      }
    }
  }
}

TEST_CASE("Objects of every type are read") {
  CHECK(read(with_objects(R"({"type": "sphere", "centre": [0,0,0], "radius": 1, "material": "g"})"))
            ->spheres.size() == 1);
  CHECK(read(with_objects(R"({"type": "plane", "material": "m"})"))->planes.size() == 1);
  CHECK(
      read(with_objects(R"({"type": "triangle", "a": [0,0,0], "b": [1,0,0], "c": [0,1,0], "material": "m"})"))
          ->triangles.size() == 1);
  CHECK(
      read(with_objects(R"({"type": "box", "base": [0,0,0], "size": [1,2,3], "turn": 30, "material": "m"})"))
          ->triangles.size() == 12);
  CHECK(read(with_objects(
                 R"({"type": "flake", "centre": [0,0,0], "radius": 1, "levels": 2, "materials": ["m"]})"))
            ->spheres.size() == 91);
  CHECK(read(with_objects(
                 R"({"type": "pyramid", "base": [0,0,0], "layers": 4, "radius": 1, "materials": ["m"]})"))
            ->spheres.size() == 30);
  CHECK(
      read(
          with_objects(
              R"({"type": "ring", "centre": [0,0,0], "ring_radius": 4, "count": 7, "radius": 1, "materials": ["m"]})"))
          ->spheres.size() == 7);
  CHECK(
      read(with_objects(R"({"type": "knot", "centre": [0,0,0], "radius": 1, "tube": 0.2, "material": "m"})"))
          ->triangles.size() == 2880);
  CHECK(
      read(
          with_objects(
              R"({"type": "scatter", "count": 9, "outer": 10, "smallest": 0.1, "largest": 0.2, "materials": ["m"]})"))
          ->spheres.size() == 9);
  const auto mesh =
      read(with_objects(R"({"type": "mesh", "file": "c.obj", "scale": 2, "smooth": true, "material": "m"})"),
           {{"c.obj", cube_obj}});
  REQUIRE(mesh.ok());
  CHECK(mesh->triangles.size() == 12);
  CHECK(mesh->triangles[0].corner == Vector{-2, -2, -2});
}

TEST_CASE("A box is closed and its turn keeps its size") {
  const auto scene =
      read(with_objects(R"({"type": "box", "base": [5,1,0], "size": [1,2,3], "turn": 30, "material": "m"})"));
  double area = 0;
  Vector sum;
  for (const Triangle& triangle : scene->triangles) {
    const Vector normal = cross(triangle.edge1, triangle.edge2);
    area += length(normal) / 2;
    sum += normal;
    // All faces look outwards.
    CHECK(dot(normal, triangle.corner - Vector{5, 2, 0}) > 0);
  }
  CHECK(area == Approx(22));
  CHECK(length(sum) < 1e-12);
}

TEST_CASE("Mistakes are named with their place, several at once") {
  CHECK(message("[]").find("the scene: must be an object") != std::string::npos);
  CHECK(message("{") != "");
  CHECK(message(R"({"gleaner_scene": 2, "camera": {}, "materials": {}})") ==
        "gleaner_scene: must be a whole number from 1 to 1");
  CHECK(message(with_objects(
            R"({"type": "sphere", "centre": [0,0], "radius": -1, "material": "x", "colour": 1})")) ==
        "objects[0].centre: must be three numbers [x, y, z] from -1000000.0 to 1000000.0; "
        "objects[0].radius: must be a number from 0.0001 to 100000.0; "
        "objects[0].material: there is no material 'x'; objects[0].colour: there is no such key here");
  CHECK(message(with_objects(R"({"type": "torus"})")).find("objects[0].type: must be sphere, plane") == 0);
  CHECK(message(with_objects(R"({"type": "plane", "material": "g"})")).find("cannot be of glass") !=
        std::string::npos);
  CHECK(message(with_objects(R"({"type": "mesh", "file": "a.obj", "material": "m"})")) ==
        "objects[0]: there is no input 'a.obj'");
  CHECK(
      message(
          with_objects(
              R"({"type": "scatter", "count": 1000, "outer": 1, "smallest": 0.5, "largest": 0.5, "materials": ["m"]})"))
          .find("make it wider") != std::string::npos);
  CHECK(message(R"({"gleaner_scene": 1, "camera": {"from": [1,2,3], "to": [1,2,3]}, "materials": {}})")
            .find("camera.to: must not be where the camera is") == 0);
  CHECK(message(R"({"gleaner_scene": 1, "camera": {"from": [0,5,0], "to": [0,0,0]}, "materials": {}})")
            .find("camera.up: must not be the direction of view") == 0);
  CHECK(message(R"({"gleaner_scene": 1, "camera": {}, "materials": {"a": {"glass": true, "mirror": 1}}})")
            .find("materials.a.mirror") == 0);
}

TEST_CASE("Too much is refused before it is built") {
  std::string flakes;
  for (int i = 0; i < 7; ++i) {
    flakes += std::string(i ? "," : "") +
              R"({"type": "flake", "centre": [0,0,0], "radius": 1, "levels": 5, "materials": ["m"]})";
  }
  const auto scene = read(with_objects(flakes));
  REQUIRE(!scene.ok());
  CHECK(scene.error().kind == ErrorKind::too_large);
  CHECK(scene.error().message == "objects[6]: the scene has more than 400000 primitives");
  CHECK_FALSE(read(std::string(100'000, '[')).ok());
  CHECK(read(std::string(scene_bytes_max + 1, ' ')).error().kind == ErrorKind::too_large);
}

TEST_CASE("Damaged scenes give errors or scenes, never more") {
  const std::uint64_t seed = 31;
  INFO("seed " << seed);
  Random random(seed);
  const std::string valid(bundled_scene("B"));
  int read_well = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string text = valid;
    for (std::uint64_t n = random.below(3); n < 3; ++n) {
      const std::size_t place = random.below(text.size());
      switch (random.below(3)) {
        case 0:
          text[place] = static_cast<char>(random.next());
          break;
        case 1:
          text.erase(place, random.below(6));
          break;
        case 2:
          text[place] = static_cast<char>('0' + random.below(10));
          break;
      }
    }
    const auto scene = read(text);
    read_well += scene.ok();
    if (!scene.ok()) REQUIRE(!scene.error().message.empty());
  }
  CHECK(read_well > 50);
  CHECK(read_well < 1500);
}

}  // namespace gleaner::raytrace
