// The objects of a scene file. Internal to the scene reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/raytrace/scene_file.h"
#include "apps/raytrace/scene_json.h"

namespace gleaner::raytrace {

using MaterialNames = std::map<std::string, std::uint32_t>;

// Adds what one entry of "objects" describes. Mistakes are noted; an error is one that ends reading (too
// large).
[[nodiscard]] Status add_object(Scene& scene, JsonObject& object, const MaterialNames& names,
                                const MeshSource& meshes);

}  // namespace gleaner::raytrace
