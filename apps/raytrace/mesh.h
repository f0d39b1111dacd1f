// Triangle meshes from Wavefront OBJ and Stanford PLY (ascii and binary little-endian) texts. Files are
// untrusted: every count is checked against the bytes that are there before memory is taken, every index
// against the points, and coordinates must be finite and below 1e9. Polygons become fans. Errors: invalid
// with the line or byte, too_large.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/raytrace/vector.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

struct Mesh {
  struct Corner {
    std::uint32_t point = 0;
    std::int32_t normal = -1;  // -1: none
  };
  using Face = std::array<Corner, 3>;
  std::vector<Vector> points;
  std::vector<Vector> normals;
  std::vector<Face> faces;
};

inline constexpr std::int64_t mesh_bytes_max = 128 << 20;

// v, vn and f are read (indices may be negative); texture coordinates, groups and materials are passed over.
[[nodiscard]] Result<Mesh> parse_obj(std::string_view text);
// Elements `vertex` (x y z, nx ny nz if all three are there) and `face` (vertex_indices or vertex_index); any
// others are passed over.
[[nodiscard]] Result<Mesh> parse_ply(std::string_view bytes);
// By the name's ending.
[[nodiscard]] Result<Mesh> parse_mesh(const std::string& name, std::string_view bytes);

// Gives every corner the mean normal of the faces around its point, weighted by their areas.
void smooth_normals(Mesh& mesh);

}  // namespace gleaner::raytrace
