// Moving pictures: cameras, frames, and animated PNG files read back by their definition.
#include <png.h>
#include <zlib.h>

#include "apps/raytrace/animation.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"
#include "tests/unit/apps/raytrace_samples.h"

namespace gleaner::raytrace {
namespace {

const std::string two_balls = R"({"gleaner_scene": 1, "camera": {"from": [0, 1, -5], "to": [0, 0.5, 0]},
  "materials": {"red": {"colour": [0.8, 0.1, 0.1]}, "blue": {"colour": [0.1, 0.1, 0.8]}},
  "lights": [{"position": [2, 5, -3], "colour": 30}],
  "path": [{"from": [0, 1, -5]}, {"from": [3, 1, -4], "to": [0, 1, 0]}, {"from": [5, 2, 0]}],
  "objects": [{"type": "sphere", "centre": [0.7, 0.5, 0], "radius": 0.5, "material": "red"},
              {"type": "sphere", "centre": [-0.7, 0.5, 0], "radius": 0.5, "material": "blue"},
              {"type": "plane", "material": "red"}]})";

struct Chunk {
  std::string type, data;
};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(i));
  return value;
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
  return bytes;
}

std::vector<Chunk> chunks_of(const std::string& png) {
  REQUIRE(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at < png.size();) {
    const std::uint32_t length = number_at(png, at);
    const std::string checked = png.substr(at + 4, length + 4);
    REQUIRE(checked.size() == length + 4);
    CHECK(number_at(png, at + 8 + length) ==
          crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    chunks.push_back({checked.substr(0, 4), checked.substr(4)});
    at += length + 12;
  }
  return chunks;
}

// The pixels of a PNG file, by libpng.
std::string pixels_of(const std::string& png) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_memory(&image, png.data(), png.size()));
  image.format = PNG_FORMAT_RGB;
  std::string pixels(PNG_IMAGE_SIZE(image), '\0');
  REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr));
  return pixels;
}

// The frames of an animation, each as a PNG file of its own.
std::vector<std::string> frames_of(const std::string& apng) {
  const std::vector<Chunk> chunks = chunks_of(apng);
  REQUIRE(chunks.at(0).type == "IHDR");
  REQUIRE(chunks.at(1).type == "acTL");
  REQUIRE(chunks.back().type == "IEND");
  const auto chunk = [](const std::string& type, const std::string& data) {
    const std::string checked = type + data;
    return big_endian(static_cast<std::uint32_t>(data.size())) + checked +
           big_endian(static_cast<std::uint32_t>(
               crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()))));
  };
  std::vector<std::string> frames;
  std::uint32_t sequence = 0;
  for (const auto& [type, data] : chunks) {
    if (type == "fcTL") {
      CHECK(number_at(data, 0) == sequence++);
      CHECK(data.substr(4, 8) == chunks[0].data.substr(0, 8));
      frames.push_back("\x89PNG\r\n\x1a\n" + chunk("IHDR", chunks[0].data));
    } else if (type == "IDAT") {
      REQUIRE(frames.size() == 1);
      frames.back() += chunk("IDAT", data);
    } else if (type == "fdAT") {
      REQUIRE(frames.size() > 1);
      CHECK(number_at(data, 0) == sequence++);
      frames.back() += chunk("IDAT", data.substr(4));
    }
  }
  CHECK(number_at(chunks[1].data, 0) == frames.size());
  for (std::string& frame : frames) frame += chunk("IEND", "");
  return frames;
}

}  // namespace

TEST_CASE("An orbit turns around the target and comes back", "[raytrace]") {
  const Scene scene = bundled("A");
  const auto cameras = cameras_of(scene, {8, 0, 7, 360, 40});
  REQUIRE(cameras.ok());
  REQUIRE(cameras->size() == 8);
  const Vector arm = scene.camera.from - scene.camera.to;
  CHECK(cameras->at(0).from == scene.camera.from);
  for (const Camera& camera : *cameras) {
    CHECK(camera.to == scene.camera.to);
    CHECK(length(camera.from - camera.to) == Approx(length(arm)));
    CHECK(camera.from.y == Approx(scene.camera.from.y));
  }
  const Vector opposite = cameras->at(4).from - scene.camera.to;
  CHECK(opposite.x == Approx(-arm.x).margin(1e-9));
  CHECK(opposite.z == Approx(-arm.z).margin(1e-9));
  const auto part = cameras_of(scene, {8, 3, 5, 360, 40});
  REQUIRE(part->size() == 3);
  CHECK(part->at(0).from == cameras->at(3).from);
}

TEST_CASE("A path passes through its places, smoothly", "[raytrace]") {
  const Scene scene = scene_from(two_balls);
  const auto cameras = cameras_of(scene, {201, 0, 200, 0, 40});
  REQUIRE(cameras.ok());
  for (std::size_t place = 0; place < 3; ++place) {
    CHECK(length(cameras->at(100 * place).from - scene.path[place].from) < 1e-12);
    CHECK(length(cameras->at(100 * place).to - scene.path[place].to) < 1e-12);
  }
  for (std::size_t i = 2; i < 201; ++i) {
    const Vector before = cameras->at(i - 1).from - cameras->at(i - 2).from;
    CHECK(length(cameras->at(i).from - cameras->at(i - 1).from - before) < 0.002);
  }
}

TEST_CASE("Frames of an animation are the pictures that their cameras see", "[raytrace]") {
  Scene scene = scene_from(two_balls);
  const Animation animation{5, 1, 3, 0, 40};
  const auto cameras = cameras_of(scene, animation);
  REQUIRE(cameras.ok());
  const Renderer film(scene, {24, 18, 2}, Search::tree, animation, *cameras);
  REQUIRE(film.items() == 3 * 18);
  kit::ItemContext quiet;
  std::string all;
  for (std::int64_t item = 0; item < film.items(); ++item) all += film.line(item, quiet);
  for (std::size_t frame = 0; frame < 3; ++frame) {
    scene.camera = cameras->at(frame);
    const Renderer still(scene, {24, 18, 2}, Search::tree);
    const std::size_t size = 24 * 18 * 3;
    CHECK((picture_of(still) == all.substr(frame * size, size)));
  }
  const auto hints = film.estimate_costs();
  REQUIRE(hints.size() == 54);
  double sum = 0;
  for (const kit::ItemHint& hint : hints) sum += hint.cost;
  CHECK(sum == Approx(54));
}

TEST_CASE("An animation through the contract: frames, animated PNG, and what there is of both",
          "[raytrace]") {
  const std::string parameters =
      R"({"file": "balls.json", "width": 30, "height": 20, "samples": 1, "frames": 4, "orbit": 90})";
  test::check_properties({"raytrace", parameters, {{"balls.json", two_balls}}, 3});
  test::Application application("raytrace", parameters, {{"balls.json", two_balls}});
  application.plan();
  REQUIRE(application.items() == 80);
  const test::Items items = application.compute({0, 80});
  const test::Files files = application.combine(items, {{0, 50}, {50, 80}});
  REQUIRE(files.size() == 5);
  const std::vector<std::string> frames = frames_of(files.at("animation.png"));
  REQUIRE(frames.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string pixels = pixels_of(frames[i]);
    CHECK((pixels == pixels_of(files.at("frame-0000" + std::to_string(i) + ".png"))));
    std::string expected;
    for (std::int64_t row = 0; row < 20; ++row) expected += items.at(static_cast<std::int64_t>(20 * i) + row);
    CHECK((pixels == expected));
  }
  CHECK((pixels_of(files.at("animation.png")) == pixels_of(frames[0])));
  // The second frame from its lines 5 to 9, the fourth whole; nothing of the others.
  const test::Files preview = application.combine(items, {{25, 30}, {60, 80}}, "preview");
  REQUIRE(preview.size() == 3);
  const std::string second = pixels_of(preview.at("frame-00001.png"));
  const std::size_t line = 90;
  CHECK(second.substr(0, 5 * line) == std::string(5 * line, '\x28'));
  CHECK(second.substr(5 * line, line) == items.at(25));
  CHECK(second.substr(10 * line) == std::string(10 * line, '\x28'));
  CHECK(frames_of(preview.at("animation.png")).size() == 2);
}

TEST_CASE("Animations' parameters are checked with messages", "[raytrace]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("raytrace", parameters); };
  CHECK(answer(R"({"scene": "A", "frames": 10, "orbit": 360})") == "ok");
  CHECK(answer(R"({"scene": "A", "frames": 10})").find("frames: the scene has no path") != std::string::npos);
  CHECK(answer(R"({"scene": "A", "orbit": 360})") == "error orbit: is for an animation: set frames");
  CHECK(answer(R"({"scene": "A", "frames": 10, "orbit": 1, "first_frame": 5, "last_frame": 4})")
            .find("last_frame: must not be below first_frame") != std::string::npos);
  CHECK(answer(R"({"scene": "A", "frames": 5000, "orbit": 1})").find("at most 1000 frames") !=
        std::string::npos);
  CHECK(answer(R"({"scene": "A", "frames": 10, "orbit": 1, "last_frame": 10})").find("last_frame: must be") !=
        std::string::npos);
}

}  // namespace gleaner::raytrace
