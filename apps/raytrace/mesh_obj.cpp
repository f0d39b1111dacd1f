#include "apps/raytrace/mesh.h"
#include "apps/raytrace/mesh_numbers.h"
#include "apps/raytrace/scene.h"

namespace gleaner::raytrace {
namespace {

constexpr std::size_t corners_max = 1024;  // of one polygon

// 1-based, or counted from the end if negative; nothing if there is no such element.
std::optional<std::uint32_t> resolve(std::string_view word, std::size_t count) {
  const auto number = to_number<std::int64_t>(word);
  if (!number || *number == 0) return std::nullopt;
  const std::int64_t place = *number > 0 ? *number - 1 : static_cast<std::int64_t>(count) + *number;
  if (place < 0 || place >= static_cast<std::int64_t>(count)) return std::nullopt;
  return static_cast<std::uint32_t>(place);
}

class ObjReader {
 public:
  Result<Mesh> read(std::string_view text) {
    for (std::int64_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      if (const char* mistake = read_line(line)) {
        return Error{ErrorKind::invalid, "line " + std::to_string(number) + " of the OBJ file: " + mistake};
      }
    }
    if (mesh_.faces.empty()) return Error{ErrorKind::invalid, "the OBJ file has no faces"};
    return std::move(mesh_);
  }

 private:
  // Null, or what is wrong.
  const char* read_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") return read_vector(line, mesh_.points);
    if (keyword == "vn") return read_vector(line, mesh_.normals);
    if (keyword == "f") return read_face(line);
    return nullptr;
  }

  static const char* read_vector(std::string_view line, std::vector<Vector>& into) {
    double value[3];
    for (double& component : value) {
      const auto number = to_number<double>(next_word(line));
      if (!number || !coordinate(*number)) return "expected three numbers below 1e9";
      component = *number;
    }
    if (into.size() >= 4 * static_cast<std::size_t>(primitives_max)) return "too many points";
    into.push_back({value[0], value[1], value[2]});
    return nullptr;
  }

  const char* read_face(std::string_view line) {
    corners_.clear();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (corners_.size() == corners_max) return "a face has more than 1024 corners";
      Mesh::Corner corner;
      const std::size_t first_slash = word.find('/');
      const auto point = resolve(word.substr(0, first_slash), mesh_.points.size());
      if (!point) return "a face names a point that is not there";
      corner.point = *point;
      const std::size_t second_slash =
          first_slash == std::string_view::npos ? first_slash : word.find('/', first_slash + 1);
      if (second_slash != std::string_view::npos) {
        const auto normal = resolve(word.substr(second_slash + 1), mesh_.normals.size());
        if (!normal) return "a face names a normal that is not there";
        corner.normal = static_cast<std::int32_t>(*normal);
      }
      corners_.push_back(corner);
    }
    if (corners_.size() < 3) return "a face needs three corners";
    for (std::size_t i = 2; i < corners_.size(); ++i) {
      if (mesh_.faces.size() == static_cast<std::size_t>(primitives_max)) return "more than 400000 triangles";
      mesh_.faces.push_back({corners_[0], corners_[i - 1], corners_[i]});
    }
    return nullptr;
  }

  Mesh mesh_;
  std::vector<Mesh::Corner> corners_;
};

}  // namespace

Result<Mesh> parse_obj(std::string_view text) {
  return ObjReader().read(text);
}

Result<Mesh> parse_mesh(const std::string& name, std::string_view bytes) {
  if (name.ends_with(".obj")) return parse_obj(bytes);
  if (name.ends_with(".ply")) return parse_ply(bytes);
  return Error{ErrorKind::invalid, "the name of a mesh must end in .obj or .ply"};
}

void smooth_normals(Mesh& mesh) {
  mesh.normals.assign(mesh.points.size(), Vector{});
  for (Mesh::Face& face : mesh.faces) {
    const Vector a = mesh.points[face[0].point];
    const Vector normal = cross(mesh.points[face[1].point] - a, mesh.points[face[2].point] - a);
    for (Mesh::Corner& corner : face) {
      mesh.normals[corner.point] += normal;
      corner.normal = static_cast<std::int32_t>(corner.point);
    }
  }
}

}  // namespace gleaner::raytrace
