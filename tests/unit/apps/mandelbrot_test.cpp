#include "apps/mandelbrot/mandelbrot.h"

#include <algorithm>

#include "apps/mandelbrot/mandelbrot_manager.h"
#include "apps/mandelbrot/palette.h"
#include "tests/catch.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::mandelbrot {
namespace {

Settings square(std::int64_t side) {
  Settings settings;
  settings.width = settings.height = side;
  return settings;
}

std::vector<Escape> row_of(const Settings& settings, std::int64_t row) {
  kit::ItemContext quiet;
  return decode_row(compute_row(settings, row, quiet));
}

}  // namespace

TEST_CASE("The golden totals of the published image sizes") {
  struct Golden {
    std::int64_t side, never_escaping, summed_counts;
  };
  for (const Golden golden : {Golden{64, 690, 705'774}, {128, 2750, 2'814'276}, {192, 6200, 6'343'834}}) {
    const Settings settings = square(golden.side);
    std::int64_t never = 0;
    std::int64_t summed = 0;
    for (std::int64_t row = 0; row < golden.side; ++row) {
      for (const Escape& escape : row_of(settings, row)) {
        never += escape.count == 1000;
        summed += escape.count;
      }
    }
    CHECK(never == golden.never_escaping);
    CHECK(summed == golden.summed_counts);
  }
}

TEST_CASE("Rows are as uneven as published: 35211 to 50 at 64 pixels") {
  const Settings settings = square(64);
  std::int64_t least = 1'000'000;
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < 64; ++row) {
    std::int64_t sum = 0;
    for (const Escape& escape : row_of(settings, row)) sum += escape.count;
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  CHECK(most == 35'211);
  CHECK(least == 50);
}

TEST_CASE("The picture is symmetric about the real axis, to the bit, at any height") {
  for (const std::int64_t side : {7, 50, 64}) {
    Settings settings = square(side);
    settings.y_min = -1.3;
    settings.y_max = 1.3;
    kit::ItemContext quiet;
    for (std::int64_t row = 0; row < side; ++row) {
      REQUIRE(compute_row(settings, row, quiet) == compute_row(settings, side - 1 - row, quiet));
    }
  }
}

TEST_CASE("The area approaches the set's") {
  Settings settings = square(400);
  std::int64_t never = 0;
  for (std::int64_t row = 0; row < 400; ++row) {
    for (const Escape& escape : row_of(settings, row)) never += escape.count == 1000;
  }
  CHECK(static_cast<double>(never) * 9 / 160'000 == Approx(1.5066).margin(0.01));
}

TEST_CASE("Counts and fractions at points that are known") {
  CHECK(escape_of(0, 0, 500).count == 500);
  CHECK(escape_of(-1, 0, 500).count == 500);  // period two
  CHECK(escape_of(0.25, 0, 500).count == 500);
  CHECK(escape_of(2, 2, 500).count == 0);
  CHECK(escape_of(1, 0, 500).count == 2);  // 1, 2, 5
  CHECK(escape_of(0, 0, 500).fraction == 0);
  // Continuous: neighbours across a change of count differ by little.
  double largest_step = 0;
  Escape before = escape_of(0.5, 0.5, 500);
  for (double x = 0.5; x < 1.5; x += 1e-4) {
    const Escape here = escape_of(x, 0.5, 500);
    const double step = std::abs(static_cast<double>(here.count) + static_cast<double>(here.fraction) -
                                 static_cast<double>(before.count) - static_cast<double>(before.fraction));
    largest_step = std::max(largest_step, step);
    before = here;
  }
  CHECK(largest_step < 0.02);
}

TEST_CASE("Rows keep their bytes: the same on every machine") {
  Settings settings = square(64);
  std::string all;
  kit::ItemContext quiet;
  for (std::int64_t row = 0; row < 64; ++row) all += compute_row(settings, row, quiet);
  CHECK(test::digest(all) == 0x124f703b3787c305);
}

TEST_CASE("Every variant gives the scalar loop's bytes, at any width and depth") {
  struct View {
    double x, y, half;
    std::int64_t iterations;
  };
  // The whole set, a spiral, the inside, far outside, the border of the largest bulb
  for (const View view : {View{-0.5, 0, 1.5, 1000},
                          {-0.743643887, 0.131825904, 1e-6, 3000},
                          {-0.2, 0, 0.1, 5000},
                          {500, 500, 400, 10},
                          {0.25, 0, 0.05, 1},
                          {-0.75, 0.1, 0.02, 20000}}) {
    for (const std::int64_t width : {1, 3, 31, 32, 33, 150}) {
      Settings settings;
      settings.x_min = view.x - view.half;
      settings.x_max = view.x + view.half;
      settings.y_min = view.y - view.half;
      settings.y_max = view.y + view.half;
      settings.width = width;
      settings.height = 5;
      settings.iterations = view.iterations;
      kit::ItemContext quiet;
      for (std::int64_t row = 0; row < 5; ++row) {
        const Bytes expected = compute_row(settings, row, quiet, kit::CpuLevel::baseline);
        for (const kit::CpuLevel level : kit::cpu_levels()) {
          INFO(view.x << " " << view.y << " width " << width << " " << kit::name_of(level));
          REQUIRE(compute_row(settings, row, quiet, level) == expected);
        }
      }
    }
  }
}

TEST_CASE("Parameters are checked with messages that say what to do") {
  test::TemporaryDirectory directory;
  const auto read = [&](const std::string& json) {
    return read_settings(kit::Problem(directory.problem(json)));
  };
  CHECK(read("{}").ok());
  CHECK(read(R"({"width": 100, "height": 7, "iterations": 5, "colour": "counts"})").ok());
  CHECK(read(R"({"x_min": 1, "x_max": 1})").error().message == "x_max: must be greater than x_min");
  CHECK(
      read(R"({"x_min": -0.75, "x_max": -0.7499999999999999, "width": 1000})").error().message ==
      "x_min: the region is too narrow for double precision: give centre_x, centre_y and view_width instead");
  CHECK(read(R"({"width": 65536, "height": 65536})").error().message.find("make the picture smaller") !=
        std::string::npos);
  CHECK(read(R"({"width": 60000, "iterations": 100000000})")
            .error()
            .message.find("lower iterations or width") != std::string::npos);
  for (const char* wrong : {R"({"width": 0})", R"({"height": 65537})", R"({"iterations": 0})",
                            R"({"x_min": 1e9})", R"({"colour": "pink"})", R"({"widht": 5})"}) {
    CHECK_FALSE(read(wrong).ok());
  }
}

TEST_CASE("Cost hints follow the rows' costs") {
  const Settings settings = square(192);
  const auto hints = estimate_costs(settings);
  REQUIRE(hints.size() == 192);
  double sum = 0;
  double agreement = 0;
  double hint_square = 0;
  double cost_square = 0;
  double cost_sum = 0;
  std::vector<double> costs;
  for (std::int64_t row = 0; row < 192; ++row) {
    double cost = 0;
    for (const Escape& escape : row_of(settings, row)) cost += escape.count + 12.0;
    costs.push_back(cost);
    cost_sum += cost;
  }
  for (std::size_t row = 0; row < 192; ++row) {
    const double cost = costs[row] * 192 / cost_sum - 1;
    const double hint = hints[row].cost - 1;
    sum += hints[row].cost;
    agreement += cost * hint;
    hint_square += hint * hint;
    cost_square += cost * cost;
  }
  CHECK(sum == Approx(192));
  CHECK(agreement / std::sqrt(hint_square * cost_square) > 0.97);
  Settings one_row = square(5);
  one_row.height = 1;
  CHECK(estimate_costs(one_row).size() == 1);
}

TEST_CASE("A manager tells implausible rows") {
  test::TemporaryDirectory directory;
  MandelbrotManager manager;
  REQUIRE(
      manager.check(kit::Problem(directory.problem(R"({"width": 4, "height": 3, "iterations": 50})"))).ok());
  Settings settings;
  settings.width = 4;
  settings.height = 3;
  settings.iterations = 50;
  kit::ItemContext quiet;
  const auto judge = [&](Range range, const Bytes& segment) {
    kit::SegmentReader reader(range, segment);
    return manager.validate(0, reader)->verdict;
  };
  const auto verdict = [&](Range range, const Bytes& row) {
    Bytes segment;
    for (std::int64_t i = range.begin; i < range.end; ++i) kit::append_item(segment, row);
    return judge(range, segment);
  };
  using Verdict = kit::Validation::Verdict;
  Bytes picture;
  for (std::int64_t row = 0; row < 3; ++row) kit::append_item(picture, compute_row(settings, row, quiet));
  const Bytes good = compute_row(settings, 0, quiet);
  CHECK(judge({0, 3}, picture) == Verdict::valid);
  CHECK(verdict({0, 1}, good) == Verdict::valid);
  CHECK(verdict({1, 4}, good) == Verdict::invalid);
  Bytes later = good;
  for (std::size_t pixel = 0; pixel < 4; ++pixel) later[8 * pixel] = static_cast<char>(later[8 * pixel] + 1);
  CHECK(verdict({0, 1}, later) == Verdict::invalid);
  CHECK(verdict({0, 1}, good.substr(1)) == Verdict::invalid);
  Bytes high = good;
  high[0] = 51;
  CHECK(verdict({0, 1}, high) == Verdict::invalid);
  Bytes not_a_number = good;
  not_a_number.replace(0, 8, std::string("\x02\0\0\0\0\0\xc0\x7f", 8));
  CHECK(verdict({0, 1}, not_a_number) == Verdict::invalid);
}

TEST_CASE("Points that never escape are black, and both colourings give three bytes") {
  Settings settings = square(4);
  Bytes rgb;
  Palette(settings).append(rgb, {1000, 0});
  CHECK(rgb == Bytes(3, '\0'));
  Palette(settings).append(rgb, {7, 0.5F});
  settings.colour = Colour::counts;
  Palette(settings).append(rgb, {7, 0.5F});
  REQUIRE(rgb.size() == 9);
  CHECK(rgb.substr(3, 3) != rgb.substr(6, 3));
}

}  // namespace gleaner::mandelbrot
