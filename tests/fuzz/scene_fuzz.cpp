// Scenes and meshes for the ray tracer, whose author nobody knows: 's' a scene whose meshes are the text
// behind its first zero byte, 'o' a Wavefront mesh, 'p' a Stanford one. Every index points at something.
#include "apps/raytrace/mesh.h"
#include "apps/raytrace/scene_file.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::raytrace;

namespace {

void check(const Result<Mesh>& mesh) {
  if (!mesh.ok()) return CHECK_TRUE(!mesh.error().message.empty());
  for (const Mesh::Face& face : mesh->faces) {
    for (const Mesh::Corner& corner : face) {
      CHECK_TRUE(corner.point < mesh->points.size());
      CHECK_TRUE(corner.normal < static_cast<std::int64_t>(mesh->normals.size()) && corner.normal >= -1);
    }
  }
  Mesh smooth = *mesh;
  smooth_normals(smooth);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  if (data[0] == 'o') check(parse_obj(text));
  if (data[0] == 'p') check(parse_ply(text));
  if (data[0] != 's') return 0;
  const auto end = std::min(text.find('\0'), text.size());
  const Bytes mesh(text.substr(std::min(end + 1, text.size())));
  const auto scene = parse_scene(text.substr(0, end), [&](const std::string& name) -> Result<Bytes> {
    CHECK_TRUE(!name.empty());
    return mesh;
  });
  CHECK_TRUE(scene.ok() || !scene.error().message.empty());
  return 0;
}
