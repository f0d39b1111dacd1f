// Scene files: JSON as described in SCENE.md. Untrusted input: everything is bounded, and all mistakes are
// named with their place. Errors: invalid, too_large, and what the mesh source returns.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apps/raytrace/scene.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

inline constexpr std::int64_t scene_bytes_max = 16 << 20;

// Gives the bytes of a mesh file that the scene names: an input of the problem.
using MeshSource = std::function<Result<Bytes>(const std::string& name)>;

[[nodiscard]] Result<Scene> parse_scene(std::string_view json, const MeshSource& meshes);

// The scenes that come with the application: "A", "B", "C", "D". Empty if there is no such scene.
[[nodiscard]] std::string_view bundled_scene(std::string_view name);

}  // namespace gleaner::raytrace
