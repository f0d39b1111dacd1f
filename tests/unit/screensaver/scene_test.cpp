#include "client/screensaver/scene.h"

#include <set>

#include "tests/catch.h"

namespace gleaner::screensaver {
namespace {

constexpr SteadyTime start{std::chrono::hours{1}};

view::View sample(int width, int height) {
  view::View view;
  view.mode = "run";
  view.project = "Room 12";
  view.reason = "computing";
  view.cores = {{"running", "scene D", 0, 5, 10}};
  view.picture = {1, 1, width, height, "scene D", "Ray tracer", "one scan-line", 57};
  return view;
}

std::uint32_t pixel(const Scene& scene, int x, int y) {
  const unsigned char* at = scene.image() + static_cast<std::ptrdiff_t>(scene.stride()) * y + 4 * x;
  return std::uint32_t{at[2]} << 16 | std::uint32_t{at[1]} << 8 | at[0];
}

std::size_t colours(const Scene& scene) {
  std::set<std::uint32_t> seen;
  for (int y = 0; y < scene.height(); y += 3)
    for (int x = 0; x < scene.width(); x += 3) seen.insert(pixel(scene, x, y));
  return seen.size();
}

long area(const std::vector<Rect>& rects) {
  long sum = 0;
  for (const Rect& rect : rects) sum += long{rect.width} * rect.height;
  return sum;
}

TEST_CASE("Without a client there is something to read, and then nothing to do") {
  Scene scene(640, 360, start);
  CHECK(area(scene.draw(start)) == 640L * 360);
  CHECK(colours(scene) > 20);
  CHECK(scene.draw(start).empty());
  CHECK(scene.quiet_until(start) >= start + std::chrono::seconds{30});
}

TEST_CASE("The picture is in the middle, a new row glows and settles, and only that is drawn") {
  Scene scene(1280, 720, start);
  Bytes pixels(std::size_t{3} * 200 * 100, '\x10');
  scene.show(sample(200, 100), pixels, start);
  (void)scene.draw(start);
  const std::uint32_t before = pixel(scene, 640, 300);
  CHECK(before == 0x101010);
  for (std::size_t i = 0; i < 600; ++i) pixels[50 * 600 + i] = '\x80';
  view::View view = sample(200, 100);
  view.picture.change = 2;
  scene.show(view, pixels, start);
  auto changed = scene.draw(start);
  REQUIRE_FALSE(changed.empty());
  CHECK(area(changed) < 1280L * 720 / 20);
  const int y = changed.front().y + changed.front().height / 2;
  const std::uint32_t glowing = pixel(scene, 640, y);
  CHECK((glowing & 0xff) > 0xa0);
  CHECK(scene.quiet_until(start) < start + std::chrono::milliseconds{50});
  changed = scene.draw(start + std::chrono::milliseconds{600});
  const std::uint32_t fading = pixel(scene, 640, y);
  CHECK(((fading & 0xff) < (glowing & 0xff) && (fading & 0xff) > 0x80));
  (void)scene.draw(start + std::chrono::seconds{2});
  CHECK(pixel(scene, 640, y) == 0x808080);
  CHECK(scene.draw(start + std::chrono::seconds{2}).empty());
}

TEST_CASE("A pause dims the picture, its end shows it again") {
  Scene scene(800, 600, start);
  const Bytes pixels(std::size_t{3} * 20 * 10, '\xf0');
  view::View view = sample(20, 10);
  scene.show(view, pixels, start);
  (void)scene.draw(start);
  CHECK(pixel(scene, 400, 250) == 0xf0f0f0);
  view.mode = "pause";
  scene.show(view, pixels, start);
  (void)scene.draw(start);
  CHECK((pixel(scene, 400, 250) & 0xff) < 0xb0);
  view.mode = "run";
  scene.show(view, pixels, start);
  (void)scene.draw(start);
  CHECK(pixel(scene, 400, 250) == 0xf0f0f0);
}

TEST_CASE("Any size of window, text and picture is drawn") {
  view::View view = sample(view::picture_width_max, view::picture_height_max);
  view.picture.problem = std::string(view::text_bytes_max, 'W');
  view.reason = view.host = view.picture.problem;
  view.cores.assign(view::cores_shown_max, {"running", "x", 5, 9, 5});  // an end before the beginning
  const Bytes pixels(static_cast<std::size_t>(view::picture_bytes(view.picture)), '\x55');
  for (const auto& [width, height] : {std::pair{64, 64}, {16, 2000}, {3000, 20}, {1, 1}}) {
    Scene scene(width, height, start);
    scene.show(view, pixels, start);
    CHECK(area(scene.draw(start)) == long{width} * height);
    scene.show(view, pixels.substr(1), start);  // cut off: no picture
    CHECK_FALSE(scene.draw(start).empty());
    (void)scene.draw(start + std::chrono::hours{1});
  }
}

TEST_CASE("Nothing stays where it is for long") {
  Scene scene(1280, 720, start);
  const Bytes pixels(std::size_t{3} * 200 * 100, '\x70');
  scene.show(sample(200, 100), pixels, start);
  (void)scene.draw(start);
  const auto first_column = [&] {
    for (int x = 0; x < 1280; ++x)
      if (pixel(scene, x, 300) == 0x707070) return x;
    return -1;
  };
  std::set<int> places{first_column()};
  for (int minute = 1; minute < 10; ++minute) {
    CHECK_FALSE(scene.draw(start + std::chrono::minutes{minute}).empty());
    places.insert(first_column());
  }
  CHECK(places.count(-1) == 0);
  CHECK(places.size() > 3);
}

}  // namespace
}  // namespace gleaner::screensaver
