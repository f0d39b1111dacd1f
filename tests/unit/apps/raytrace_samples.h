// Small scenes and meshes for the ray tracer's tests.
#pragma once

#include <string>

#include "apps/raytrace/render.h"
#include "apps/raytrace/scene_file.h"
#include "tests/catch.h"

namespace gleaner::raytrace {

inline Scene scene_from(const std::string& json) {
  auto scene = parse_scene(json, [](const std::string& name) -> Result<Bytes> {
    return Error{ErrorKind::not_found, "there is no input '" + name + "'"};
  });
  INFO((scene.ok() ? std::string() : scene.error().message));
  REQUIRE(scene.ok());
  return std::move(scene).value();
}

inline Scene bundled(const std::string& name) {
  return scene_from(std::string(bundled_scene(name)));
}

// All lines of a picture, one after the other.
inline Bytes picture_of(const Renderer& renderer) {
  kit::ItemContext quiet;
  Bytes all;
  for (std::int64_t row = 0; row < renderer.picture().height; ++row) all += renderer.line(row, quiet);
  return all;
}

// A cube, each face a square.
inline const std::string cube_obj =
    "# a cube\no cube\nv -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
    "vt 0 0\nvn 0 0 -1\nusemtl none\ns off\nf 1/1/1 4/1/1 3/1/1 2/1/1\nf 5 6 7 8\nf 1//1 2//1 6//1 5//1\n"
    "f -1 -5 -6 -2\nf 1 5 8 4\nf 2 3 7 6\n";

inline const std::string pyramid_ply =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 5\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nelement face 5\nproperty list uchar int vertex_indices\n"
    "element edge 1\nproperty int a\nproperty int b\nend_header\n"
    "-1 0 -1 255\n1 0 -1 255\n1 0 1 255\n-1 0 1 255\n0 1.5 0 255\n"
    "4 0 1 2 3\n3 0 4 1\n3 1 4 2\n3 2 4 3\n3 3 4 0\n0 1\n";

// The same in binary, with normals.
std::string binary_ply();

}  // namespace gleaner::raytrace
