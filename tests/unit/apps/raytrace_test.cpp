// The tracer against what is known of it: oracles, symmetry, and the same bytes however it is asked.
#include <algorithm>

#include "apps/raytrace/raytrace_manager.h"
#include "shared/base/random.h"
#include "tests/unit/apps/peer.h"
#include "tests/unit/apps/raytrace_samples.h"

namespace gleaner::raytrace {

TEST_CASE("A tree of boxes and a plain loop give the same bytes in every scene") {
  for (const char* name : {"A", "B", "C", "D"}) {
    const Picture picture{48, 36, *name == 'D' ? 1 : 2};
    const Renderer with_tree(bundled(name), picture, Search::tree);
    const Renderer with_loop(bundled(name), picture, Search::all_primitives);
    const Bytes bytes = picture_of(with_tree);
    INFO("scene " << name);
    CHECK((bytes == picture_of(with_loop)));
    CHECK(std::count(bytes.begin(), bytes.end(), '\0') < static_cast<std::ptrdiff_t>(bytes.size() / 2));
  }
}

TEST_CASE("Both searches find the same hit among coinciding and touching primitives") {
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  Random random(seed);
  Scene scene;
  scene.materials.emplace_back();
  const auto grid = [&] { return static_cast<double>(random.between(-4, 4)); };
  for (int i = 0; i < 300; ++i) {
    // On a grid, so that many are equal, degenerate, or share edges.
    if (i % 3 == 0) scene.add_sphere({grid(), grid(), grid()}, 0.5 + random.uniform(), 0);
    if (i % 3 != 0)
      scene.add_triangle({grid(), grid(), grid()}, {grid(), grid(), grid()}, {grid(), grid(), grid()}, 0);
  }
  for (std::size_t i = 0; i < 30; ++i) scene.add_sphere(scene.spheres[i].centre, scene.spheres[i].radius, 0);
  const Tracer with_tree(scene, {}, Search::tree);
  const Tracer with_loop(scene, {}, Search::all_primitives);
  int hits = 0;
  for (int i = 0; i < 20000; ++i) {
    Vector direction{grid(), grid(), grid()};
    if (i % 2) direction = {random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5};
    if (dot(direction, direction) == 0) continue;
    const Ray ray({grid() * 2, grid() * 2, grid() * 2}, normalized(direction));
    Work work;
    const Hit one = with_tree.nearest(ray, 1e-9, work);
    const Hit two = with_loop.nearest(ray, 1e-9, work);
    REQUIRE(one.primitive == two.primitive);
    if (!one.valid()) continue;
    REQUIRE(one.distance == two.distance);
    ++hits;
  }
  CHECK(hits > 5000);
}

TEST_CASE("A tree of equal or many primitives is bounded") {
  Scene scene;
  scene.materials.emplace_back();
  for (int i = 0; i < 5000; ++i) scene.add_sphere({1, 2, 3}, 1, 0);
  for (int i = 0; i < 60; ++i) scene.add_sphere({std::ldexp(1.0, i - 30), 0, 0}, std::ldexp(0.1, i - 30), 0);
  const Tracer tracer(scene, {}, Search::tree);
  Work work;
  const Hit hit = tracer.nearest(Ray({1, 2, -10}, {0, 0, 1}), 0, work);
  CHECK(hit.distance == Approx(12));
  CHECK(hit.primitive == 0);
}

TEST_CASE("A ball in an orthographic picture covers the area of its circle") {
  const Scene scene = scene_from(
      R"({"gleaner_scene": 1, "camera": {"projection": "orthographic", "from": [0,0,-5], "to": [0,0,0], "height": 4},
          "sky": {"horizon": 0, "zenith": 0, "ground": 0}, "materials": {"m": {"colour": 0, "glow": 1}},
          "objects": [{"type": "sphere", "centre": [0,0,0], "radius": 1, "material": "m"}]})");
  const Renderer renderer(scene, {400, 400, 1}, Search::tree);
  const Bytes bytes = picture_of(renderer);
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) covered += bytes[i] != 0;
  const double pi = 3.14159265358979;
  CHECK(std::abs(static_cast<double>(covered) - pi * 100 * 100) < 2 * pi * 100);
}

TEST_CASE("A scene that is its own mirror image gives a picture that is, to the bit") {
  const Scene scene = scene_from(
      R"({"gleaner_scene": 1, "camera": {"from": [0,1.5,-6], "to": [0,0.8,0]}, "ambient_shadows": false,
          "materials": {"floor": {"mirror": 0.2}, "glass": {"glass": true}, "mirror": {"mirror": 0.8}, "red": {"colour": [1,0,0]}},
          "lights": [{"position": [0,5,-3], "colour": 20}],
          "objects": [{"type": "plane", "material": "floor"},
            {"type": "sphere", "centre": [-1.5,1,0.25], "radius": 1, "material": "mirror"},
            {"type": "sphere", "centre": [1.5,1,0.25], "radius": 1, "material": "mirror"},
            {"type": "sphere", "centre": [0,0.5,-1], "radius": 0.5, "material": "glass"},
            {"type": "sphere", "centre": [0,2.5,1], "radius": 0.5, "material": "red"}]})");
  const std::int64_t width = 121;
  const Renderer renderer(scene, {width, 90, 1}, Search::tree);
  kit::ItemContext quiet;
  for (std::int64_t row = 0; row < 90; ++row) {
    const Bytes line = renderer.line(row, quiet);
    Bytes mirrored;
    for (std::int64_t column = width - 1; column >= 0; --column)
      mirrored += line.substr(static_cast<std::size_t>(3 * column), 3);
    REQUIRE((line == mirrored));
  }
}

TEST_CASE("Light is right where it can be computed by hand") {
  // A floor seen from above, lit by one distant light at 60 degrees from the vertical, no sky.
  const auto seen = [](const std::string& more) {
    const Scene scene = scene_from(
        R"({"gleaner_scene": 1, "camera": {"from": [0,5,0], "to": [0,0,0], "up": [0,0,1]},
            "sky": {"horizon": 0, "zenith": 0, "ground": 0}, "ambient": 0,
            "materials": {"m": {"colour": [0.5,0.25,1]}, "g": {"glass": true, "shadow": [0.5,1,1]}, "w": {"mirror": 1}},
            "lights": [{"direction": [1.7320508075688772,1,0], "colour": 2}],
            "objects": [{"type": "plane", "material": "m"})" +
        more + "]}");
    const Tracer tracer(scene, {1, 1, 1}, Search::tree);
    Work work;
    return tracer.pixel(0, 0, work);
  };
  const Vector open = seen("");
  CHECK(open.x == Approx(0.5));  // 2 cos 60° times the colour
  CHECK(open.y == Approx(0.25));
  CHECK(open.z == Approx(1));
  CHECK(seen(R"(,{"type": "sphere", "centre": [3.4641,2,0], "radius": 0.5, "material": "m"})") == Vector{});
  const Vector through =
      seen(R"(,{"type": "sphere", "centre": [3.4641,2,0], "radius": 0.5, "material": "g"})");
  CHECK(through.x == Approx(0.25));
  CHECK(through.z == Approx(1));
  // A perfect mirror over the floor shows the black sky.
  CHECK(seen(R"(,{"type": "box", "base": [0,1,0], "size": [1,1,1], "material": "w"})") == Vector{});
}

TEST_CASE("Glass follows Fresnel and Snell") {
  // Straight through a thick plate: two faces reflect 4 % each; what is behind glows.
  const auto plate = [](double tilt) {
    const Scene scene = scene_from(
        R"({"gleaner_scene": 1, "camera": {"from": [0,0,-5], "to": [0,0,0]}, "depth": 16, "ambient": 0,
            "sky": {"horizon": 0, "zenith": 0, "ground": 0},
            "materials": {"g": {"glass": true, "index": 1.5}, "lamp": {"colour": 0, "glow": 1}},
            "objects": [{"type": "box", "base": [0,-2,0], "size": [40,4,1], "turn": )" +
        std::to_string(tilt) +
        R"(, "material": "g"}, {"type": "plane", "normal": [0,0,-1], "point": [0,0,30], "material": "lamp"}]})");
    const Tracer tracer(scene, {1, 1, 1}, Search::tree);
    Work work;
    return tracer.pixel(0, 0, work).x;
  };
  // All inner reflections together: (1-R)/(1+R) with R = 0.04.
  CHECK(plate(0) == Approx(0.96 / 1.04).margin(2e-3));
  // At 45 degrees R = (9.2 % + 0.85 %) / 2 for the two polarisations, 5.02 %.
  CHECK(plate(45) == Approx((1 - 0.0502) / (1 + 0.0502)).margin(4e-3));
}

TEST_CASE("A line's bytes depend on nothing but the line") {
  const Renderer renderer(bundled("B"), {60, 45, 2}, Search::tree);
  const Bytes all = picture_of(renderer);
  const Renderer again(bundled("B"), {60, 45, 2}, Search::tree);
  kit::ItemContext quiet;
  for (std::int64_t row = 44; row >= 0; row -= 3) {
    REQUIRE((again.line(row, quiet) == all.substr(static_cast<std::size_t>(row * 180), 180)));
  }
}

TEST_CASE("A line that was saved and goes on has the same bytes, from wherever it was saved") {
  struct Interrupted final : kit::ItemContext {
    std::optional<Bytes> before;  // restored from
    int columns = 0;              // until it is saved and given up; 0: never
    std::optional<Bytes> saved;
    std::function<Bytes()> save;
    void progress(double) override {
      if (columns > 0 && --columns == 0) saved = save();
    }
    bool abandoned() const override { return saved.has_value(); }
    std::optional<Bytes> restored() override { return before; }
    void offer_checkpoint(std::function<Bytes()> how) override { save = std::move(how); }
  };
  const Renderer renderer(bundled("A"), {60, 40, 2}, Search::tree);
  kit::ItemContext quiet;
  const Bytes whole = renderer.line(20, quiet);
  for (const int columns : {1, 2, 31, 60}) {
    Interrupted first;
    first.columns = columns;
    (void)renderer.line(20, first);
    REQUIRE(first.saved);
    CHECK(first.saved->size() == static_cast<std::size_t>(3 * (columns - 1)));
    Interrupted second;
    second.before = first.saved;
    CHECK((renderer.line(20, second) == whole));
  }
  Interrupted nonsense;
  for (const char* what : {"xy", ""}) {
    nonsense.before = what;
    CHECK((renderer.line(20, nonsense) == whole));
  }
  nonsense.before = Bytes(3 * 61, 'x');
  CHECK((renderer.line(20, nonsense) == whole));
}

TEST_CASE("Pictures keep their bytes: the same on every machine") {
  const auto digest_of = [](const char* name) {
    return test::digest(picture_of(Renderer(bundled(name), {84, 64, 2}, Search::tree)));
  };
  CHECK(digest_of("A") == 0x39b8157a5a8a4a6);
  CHECK(digest_of("B") == 0xcb88924043e9ac53);
  CHECK(digest_of("C") == 0x37400f3f01b8b84b);
  CHECK(digest_of("D") == 0x2c7650a79860e872);
}

TEST_CASE("Cost hints are quick, follow the lines' work, and scene A is uneven") {
  for (const char* name : {"A", "D"}) {
    const Renderer renderer(bundled(name), {210, 160, 1}, Search::tree);
    const auto hints = renderer.estimate_costs();
    REQUIRE(hints.size() == 160);
    double product = 0;
    double hint_square = 0;
    double work_square = 0;
    std::vector<double> works;
    double total = 0;
    for (std::int64_t row = 0; row < 160; ++row) {
      Work work;
      for (std::int64_t column = 0; column < 210; ++column)
        static_cast<void>(renderer.tracer().pixel(column, row, work));
      works.push_back(work.cost());
      total += work.cost();
    }
    for (std::size_t row = 0; row < 160; ++row) {
      const double work = works[row] * 160 / total - 1;
      product += work * (hints[row].cost - 1);
      work_square += work * work;
      hint_square += (hints[row].cost - 1) * (hints[row].cost - 1);
    }
    INFO("scene " << name);
    CHECK(product / std::sqrt(work_square * hint_square) > 0.95);
    std::sort(works.begin(), works.end());
    if (*name == 'A') CHECK(works.back() / works[80] >= 3);
  }
}

TEST_CASE("Parameters of a problem are checked") {
  test::TemporaryDirectory directory;
  const auto load = [&](const std::string& parameters,
                        const std::map<std::string, std::string>& inputs = {}) {
    auto renderer = Renderer::load(kit::Problem(directory.problem(parameters, inputs)));
    return renderer.ok() ? std::string("ok") : renderer.error().message;
  };
  CHECK(load(R"({"scene": "A"})") == "ok");
  CHECK(load(R"({"scene": "A", "width": 10, "height": 5, "samples": 1, "brute_force": true})") == "ok");
  CHECK(load("{}") == "scene: must be given");
  CHECK(load(R"({"scene": "E"})") == "scene: must be one of \"A\", \"B\", \"C\", \"D\", not \"E\"");
  CHECK(load(R"({"scene": "A", "file": "x"})") == "scene: give either scene or file");
  CHECK(load(R"({"file": "none.json"})") == "there is no input 'none.json': add it to the problem");
  CHECK(load(R"({"file": "../parameters.json"})") == "'../parameters.json' is not the name of an input");
  CHECK(load(R"({"scene": "A", "width": 20000})").find("width: must be") == 0);
  CHECK(load(R"({"scene": "A", "width": 16384, "samples": 1024})").find("lower width or samples") !=
        std::string::npos);
  const std::string scene = R"({"gleaner_scene": 1, "camera": {}, "materials": {"m": {}},
    "objects": [{"type": "mesh", "file": "cube.obj", "material": "m"}]})";
  CHECK(load(R"({"file": "s.json", "width": 8, "height": 8})", {{"s.json", scene}, {"cube.obj", cube_obj}}) ==
        "ok");
  CHECK(load(R"({"file": "t.json"})", {{"t.json", "{"}}).find("t.json: the scene: not JSON at line 1") == 0);
}

TEST_CASE("The manager refuses lines of a wrong length or with wrong pixels") {
  test::TemporaryDirectory directory;
  RaytraceManager manager;
  REQUIRE(manager.check(kit::Problem(directory.problem(R"({"scene": "A", "width": 4, "height": 3})"))).ok());
  const Renderer renderer(bundled("A"), {4, 3, bundled("A").samples}, Search::tree);
  kit::ItemContext quiet;
  const auto verdict = [&](Range range, const Bytes& more, const Bytes& first = "") {
    Bytes segment;
    for (std::int64_t i = range.begin; i < range.end; ++i)
      kit::append_item(segment, i == 0 && !first.empty()
                                    ? first
                                    : renderer.line(std::min<std::int64_t>(i, 2), quiet) + more);
    kit::SegmentReader reader(range, segment);
    return manager.validate(0, reader)->verdict;
  };
  CHECK(verdict({0, 3}, "") == kit::Validation::Verdict::valid);
  CHECK(verdict({0, 3}, "a") == kit::Validation::Verdict::invalid);
  CHECK(verdict({1, 4}, "") == kit::Validation::Verdict::invalid);
  CHECK(verdict({0, 1}, "", Bytes(12, 'a')) == kit::Validation::Verdict::invalid);
  CHECK(manager.plan(0)->value().items == 3);
  CHECK_FALSE(manager.plan(1)->has_value());
}

}  // namespace gleaner::raytrace
