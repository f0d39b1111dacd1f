#include "apps/raytrace/mesh.h"

#include <cstring>

#include "apps/raytrace/scene.h"
#include "shared/base/random.h"
#include "tests/unit/apps/raytrace_samples.h"

namespace gleaner::raytrace {
namespace {

template <typename T>
void put(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

void check_sound(const Mesh& mesh) {
  REQUIRE(!mesh.faces.empty());
  REQUIRE(mesh.faces.size() <= static_cast<std::size_t>(primitives_max));
  for (const Mesh::Face& face : mesh.faces) {
    for (const Mesh::Corner& corner : face) {
      REQUIRE(corner.point < mesh.points.size());
      REQUIRE(corner.normal < static_cast<std::int64_t>(mesh.normals.size()));
    }
  }
  for (const Vector point : mesh.points)
    REQUIRE(std::abs(point.x) + std::abs(point.y) + std::abs(point.z) <= 3e9);
}

}  // namespace

std::string binary_ply() {
  std::string bytes =
      "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 4\r\nproperty double x\r\nproperty float "
      "y\r\n"
      "property short z\r\nproperty float nx\r\nproperty float ny\r\nproperty float nz\r\nelement face 2\r\n"
      "property list uchar uint vertex_index\r\nproperty list uchar float texture\r\nend_header\r\n";
  for (int i = 0; i < 4; ++i) {
    put(bytes, i % 2 == 0 ? -1.5 : 1.5);
    put(bytes, i / 2 == 0 ? -1.0F : 1.0F);
    put(bytes, static_cast<std::int16_t>(3));
    for (const float component : {0.0F, 0.0F, 1.0F}) put(bytes, component);
  }
  for (const std::uint32_t last : {2U, 3U}) {
    put(bytes, std::uint8_t{3});
    for (const std::uint32_t corner : {0U, 1U, last}) put(bytes, corner);
    put(bytes, std::uint8_t{1});
    put(bytes, 0.5F);
  }
  return bytes;
}

TEST_CASE("OBJ files are read: polygons, slashes, negative indices") {
  const auto mesh = parse_obj(cube_obj);
  REQUIRE(mesh.ok());
  CHECK(mesh->points.size() == 8);
  CHECK(mesh->normals.size() == 1);
  CHECK(mesh->faces.size() == 12);
  CHECK(mesh->faces[0][1].point == 3);
  CHECK(mesh->faces[0][0].normal == 0);
  CHECK(mesh->faces[2][0].normal == -1);
  CHECK(mesh->faces[6][0].point == 7);
  check_sound(*mesh);
}

TEST_CASE("PLY files are read, as text and as bytes") {
  const auto pyramid = parse_ply(pyramid_ply);
  REQUIRE(pyramid.ok());
  CHECK(pyramid->points.size() == 5);
  CHECK(pyramid->points[4] == Vector{0, 1.5, 0});
  CHECK(pyramid->faces.size() == 6);
  CHECK(pyramid->normals.empty());
  check_sound(*pyramid);
  const auto square = parse_ply(binary_ply());
  REQUIRE(square.ok());
  CHECK(square->points[3] == Vector{1.5, 1, 3});
  CHECK(square->normals[0] == Vector{0, 0, 1});
  CHECK(square->faces[1][2].point == 3);
  check_sound(*square);
}

TEST_CASE("Smooth normals of a cube point out of its corners") {
  auto mesh = parse_obj(cube_obj);
  REQUIRE(mesh.ok());
  smooth_normals(*mesh);
  check_sound(*mesh);
  for (std::size_t i = 0; i < 8; ++i) CHECK(std::abs(dot(mesh->normals[i], mesh->points[i])) > 1);
}

TEST_CASE("Wrong OBJ files are refused with their line") {
  const auto mistake = [](const std::string& text) {
    const auto mesh = parse_obj(text);
    REQUIRE(!mesh.ok());
    CHECK(mesh.error().kind == ErrorKind::invalid);
    return mesh.error().message;
  };
  CHECK(mistake("") == "the OBJ file has no faces");
  CHECK(mistake("v 1 2 3\n") == "the OBJ file has no faces");
  CHECK(mistake("v 1 2\n") == "line 1 of the OBJ file: expected three numbers below 1e9");
  CHECK(mistake("v 1 2 nan\n") == "line 1 of the OBJ file: expected three numbers below 1e9");
  CHECK(mistake("v 1 2 1e10\n") == "line 1 of the OBJ file: expected three numbers below 1e9");
  CHECK(mistake("v 1 2 3\n\nf 1 1 2\n") == "line 3 of the OBJ file: a face names a point that is not there");
  CHECK(mistake("v 1 2 3\nf 1 1 0\n") == "line 2 of the OBJ file: a face names a point that is not there");
  CHECK(mistake("v 1 2 3\nf 1 1 -2\n") == "line 2 of the OBJ file: a face names a point that is not there");
  CHECK(mistake("v 1 2 3\nf 1//1 1 1\n") ==
        "line 2 of the OBJ file: a face names a normal that is not there");
  CHECK(mistake("v 1 2 3\nf 1 1\n") == "line 2 of the OBJ file: a face needs three corners");
  std::string many = "v 1 2 3\nf";
  for (int i = 0; i < 2000; ++i) many += " 1";
  CHECK(mistake(many) == "line 2 of the OBJ file: a face has more than 1024 corners");
}

TEST_CASE("Wrong PLY files are refused") {
  const auto refused = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t place = text.find(from);
    REQUIRE(place != std::string::npos);
    return !parse_ply(text.replace(place, from.size(), to)).ok();
  };
  CHECK_FALSE(parse_ply("").ok());
  CHECK_FALSE(parse_ply("ply\nend_header\n").ok());
  CHECK_FALSE(parse_ply("ply\nformat ascii 1.0\nend_header\n").ok());
  CHECK(refused(pyramid_ply, "ascii", "binary_big_endian"));
  CHECK(refused(pyramid_ply, "vertex 5", "vertex 6"));
  CHECK(refused(pyramid_ply, "vertex 5", "vertex -5"));
  CHECK(refused(pyramid_ply, "vertex 5", "vertex 5000000000"));
  CHECK(refused(pyramid_ply, "face 5", "face 3000000"));
  CHECK(refused(pyramid_ply, "element edge", "element vertex"));
  CHECK(refused(pyramid_ply, "property float x", "property float w"));
  CHECK(refused(pyramid_ply, "float x", "number x"));
  CHECK(refused(pyramid_ply, "4 0 1 2 3", "4 0 1 2 5"));
  CHECK(refused(pyramid_ply, "4 0 1 2 3", "2000 0 1 2 3"));
  CHECK(refused(pyramid_ply, "4 0 1 2 3", "2 0 1"));
  CHECK(refused(pyramid_ply, "end_header", "endheader"));
  const std::string binary = binary_ply();
  for (std::size_t length = 0; length < binary.size(); ++length) {
    REQUIRE_FALSE(parse_ply(binary.substr(0, length)).ok());
  }
}

TEST_CASE("Damaged meshes give errors or sound meshes, never more") {
  const std::uint64_t seed = 97;
  INFO("seed " << seed);
  Random random(seed);
  int sound = 0;
  for (int i = 0; i < 6000; ++i) {
    const int kind = i % 3;
    std::string bytes = kind == 0 ? cube_obj : kind == 1 ? pyramid_ply : binary_ply();
    for (std::uint64_t n = random.below(6); n < 6; ++n) {
      const std::size_t place = random.below(bytes.size());
      switch (random.below(4)) {
        case 0:
          bytes[place] = static_cast<char>(random.next());
          break;
        case 1:
          bytes.erase(place, random.below(8));
          break;
        case 2:
          bytes.insert(place, bytes.substr(random.below(bytes.size()), random.below(12)));
          break;
        case 3:
          bytes[place] = static_cast<char>('0' + random.below(10));
          break;
      }
    }
    auto mesh = kind == 0 ? parse_obj(bytes) : parse_ply(bytes);
    if (!mesh.ok()) continue;
    check_sound(*mesh);
    smooth_normals(*mesh);
    ++sound;
  }
  CHECK(sound > 100);
  CHECK(sound < 6000);
}

}  // namespace gleaner::raytrace
