// Reconstruction of holograms against two-dimensional transforms in double precision, and against waves that
// are known in closed form.
#include <fftw3.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "apps/hologram/image_file.h"
#include "apps/hologram/stages.h"
#include "apps/hologram/tiles.h"
#include "apps/hologram/waves.h"
#include "shared/base/random.h"
#include "shared/json/text.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::hologram {
namespace {

using test::Files;
using Exact = std::complex<double>;
using Field = std::vector<Complex>;
constexpr double pi = std::numbers::pi;

Task task_of(const test::TemporaryDirectory& directory, const std::string& parameters,
             const Files& inputs = {}) {
  auto task = open_task(kit::Problem(directory.problem(parameters, inputs)));
  INFO((task.ok() ? "" : task.error().message));
  REQUIRE(task.ok());
  return std::move(*task);
}

// All stages in memory, with blocks cut by hand; the fields of all views, row by row. REQUIRES: output
// complex.
std::vector<Field> reconstruct(const std::string& parameters, const Files& inputs = {}) {
  const test::TemporaryDirectory directory;
  const Task task = task_of(directory, parameters, inputs);
  const Layout& layout = task.layout;
  std::map<std::string, Bytes> blocks;
  Stages stages(task, [&](int stage, std::int64_t item) -> Result<Bytes> {
    return blocks.at(block_name(stage, item));
  });
  std::vector<Field> fields(layout.views().size(),
                            Field(static_cast<std::size_t>(layout.rows() * layout.columns())));
  const auto tile_bytes = static_cast<std::size_t>(layout.tile_pixels() * 8);
  for (int stage = 0; stage < layout.stages(); ++stage) {
    std::map<std::string, Bytes> next;
    for (std::int64_t item = 0; item < layout.items(stage); ++item) {
      kit::ItemContext quiet;
      const auto bytes = stages.compute(stage, item, quiet);
      REQUIRE(bytes.ok());
      const Place place = layout.place(stage, item);
      if (layout.last(stage)) {
        for_each_run(layout, form_of(layout, stage), place.block, *bytes, [&](const Run& run) {
          std::memcpy(&fields[place.view][static_cast<std::size_t>(run.row * layout.columns() + run.column)],
                      run.bytes, static_cast<std::size_t>(run.count) * 8);
        });
        continue;
      }
      for (std::int64_t tile = 0; tile < layout.tiles(stage); ++tile) {
        Bytes& block = next[block_name(stage + 1, layout.item(stage + 1, {place.view, tile}))];
        block.resize(static_cast<std::size_t>(layout.tiles(stage + 1)) * tile_bytes);
        block.replace(static_cast<std::size_t>(place.block) * tile_bytes, tile_bytes, *bytes,
                      static_cast<std::size_t>(tile) * tile_bytes, tile_bytes);
      }
    }
    blocks = std::move(next);
  }
  return fields;
}

Bytes raw_bytes(const Field& field) {
  return {reinterpret_cast<const char*>(field.data()), field.size() * sizeof(Complex)};
}

Field random_field(std::int64_t rows, std::int64_t columns, Random& random) {
  Field field(static_cast<std::size_t>(rows * columns));
  for (Complex& value : field)
    value = {static_cast<float>(random.uniform() - 0.5), static_cast<float>(random.uniform() - 0.5)};
  return field;
}

// W = IFFT2(FFT2(U) H), [5.3] with the frequencies in the transform's order, in double precision.
std::vector<Exact> convolution(const Settings& settings, const Field& field, std::int64_t rows,
                               std::int64_t columns) {
  std::vector<Exact> plane(field.begin(), field.end());
  auto* data = reinterpret_cast<fftw_complex*>(plane.data());
  const auto transform = [&](int sign) {
    fftw_plan plan =
        fftw_plan_dft_2d(static_cast<int>(rows), static_cast<int>(columns), data, data, sign, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  };
  transform(FFTW_FORWARD);
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < columns; ++n) {
      const long double fm = static_cast<long double>(m < rows / 2 ? m : m - rows) /
                             (static_cast<long double>(rows) * static_cast<long double>(settings.row_pitch));
      const long double fn =
          static_cast<long double>(n < columns / 2 ? n : n - columns) /
          (static_cast<long double>(columns) * static_cast<long double>(settings.column_pitch));
      const long double turns =
          settings.distance / static_cast<long double>(settings.wavelength) -
          static_cast<long double>(settings.wavelength) * settings.distance / 2 * (fm * fm + fn * fn);
      const auto angle =
          static_cast<double>(2 * std::numbers::pi_v<long double> * (turns - std::floor(turns)));
      plane[static_cast<std::size_t>(m * columns + n)] *=
          std::polar(1.0 / static_cast<double>(rows * columns), angle);
    }
  }
  transform(FFTW_BACKWARD);
  return plane;
}

// The Fresnel integral as a sum, [5.4] with the output chirp's sign corrected, axis by axis.
std::vector<Exact> fresnel_sum(const Settings& settings, const Field& field, std::int64_t side) {
  const double scale = pi / (settings.wavelength * settings.distance);
  const auto axis = [&](double pitch) {
    const double out_pitch = direct_pitch(settings, side, pitch);
    std::vector<Exact> kernel(static_cast<std::size_t>(side * side));
    for (std::int64_t p = 0; p < side; ++p) {
      for (std::int64_t m = 0; m < side; ++m) {
        const double from = static_cast<double>(m - side / 2) * pitch;
        const double to = static_cast<double>(p - side / 2) * out_pitch;
        kernel[static_cast<std::size_t>(p * side + m)] =
            std::polar(pitch, scale * (from * from + to * to - 2 * from * to));
      }
    }
    return kernel;
  };
  const std::vector<Exact> down = axis(settings.row_pitch);
  const std::vector<Exact> across = axis(settings.column_pitch);
  const auto at = [side](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * side + j); };
  std::vector<Exact> half(field.size());
  std::vector<Exact> whole(field.size());
  for (std::int64_t p = 0; p < side; ++p) {
    for (std::int64_t n = 0; n < side; ++n) {
      for (std::int64_t m = 0; m < side; ++m) half[at(p, n)] += down[at(p, m)] * Exact(field[at(m, n)]);
    }
  }
  const Exact constant = std::polar(1.0, 2 * pi * std::fmod(settings.distance / settings.wavelength, 1.0)) /
                         Exact(0, settings.wavelength * settings.distance);
  for (std::int64_t p = 0; p < side; ++p) {
    for (std::int64_t q = 0; q < side; ++q) {
      for (std::int64_t n = 0; n < side; ++n) whole[at(p, q)] += across[at(q, n)] * half[at(p, n)];
      whole[at(p, q)] *= constant;
    }
  }
  return whole;
}

// The greatest difference as a part of the greatest value.
double error_of(const Field& field, const std::vector<Exact>& expected) {
  REQUIRE(field.size() == expected.size());
  double greatest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    greatest = std::max(greatest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(Exact(field[i]) - expected[i]));
  }
  return difference / greatest;
}

std::pair<std::int64_t, std::int64_t> brightest(const Field& field, std::int64_t columns) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (std::norm(field[i]) > std::norm(field[best])) best = i;
  }
  return {static_cast<std::int64_t>(best) / columns, static_cast<std::int64_t>(best) % columns};
}

// Single precision: 24 bits, and some rounding for each of the transform's steps.
constexpr double tolerance = 3e-6;

TEST_CASE("FFTW keeps to what every processor has") {
#if defined(__x86_64__)
  for (const std::int64_t count : {64, 512, 4096, 65536}) {
    for (const auto direction : {Fft::Direction::forward, Fft::Direction::backward}) {
      const std::string plan = Fft(count, direction).plan();
      INFO(plan);
      CHECK(plan.find("sse2") != std::string::npos);
      CHECK(plan.find("avx") == std::string::npos);
    }
  }
#endif
}

TEST_CASE("a transform is the discrete Fourier transform") {
  constexpr std::int64_t count = 128;
  Random random(5);
  const Line line(count);
  std::vector<Exact> input;
  for (std::int64_t i = 0; i < count; ++i) {
    line.data()[i] = {static_cast<float>(random.uniform()), static_cast<float>(random.uniform())};
    input.emplace_back(line.data()[i]);
  }
  Fft(count, Fft::Direction::forward).run(line.data());
  for (std::int64_t k = 0; k < count; ++k) {
    Exact sum;
    for (std::int64_t i = 0; i < count; ++i)
      sum += input[static_cast<std::size_t>(i)] *
             std::polar(1.0, -2 * pi * static_cast<double>(i * k % count) / count);
    CHECK(std::abs(sum - Exact(line.data()[k])) < 1e-4);
  }
  Fft(count, Fft::Direction::backward).run(line.data());
  for (std::int64_t i = 0; i < count; ++i)
    CHECK(std::abs(input[static_cast<std::size_t>(i)] - Exact(line.data()[i]) / double{count}) < 1e-6);
}

TEST_CASE("three stages are the two-dimensional transform") {
  const std::uint64_t seed = 20;
  INFO("seed " << seed);
  Random random(seed);
  for (const auto& [rows, columns, distance] :
       {std::tuple{128, 64, 12.0}, std::tuple{64, 256, -7.5}, std::tuple{512, 512, 30.0}}) {
    const Field field = random_field(rows, columns, random);
    const std::string parameters =
        R"({"format": "c64", "output": "complex", "row_pitch_micrometres": 7, "image_rows": )" +
        std::to_string(rows) + ", \"image_columns\": " + std::to_string(columns) +
        ", \"distance_millimetres\": " + std::to_string(distance) + "}";
    Settings settings;
    settings.row_pitch = 7e-6;
    settings.distance = 1e-3 * distance;
    const Field found = reconstruct(parameters, {{"hologram", raw_bytes(field)}})[0];
    CHECK(error_of(found, convolution(settings, field, rows, columns)) < tolerance);
    // Back again: the identity.
    const std::string back =
        R"({"format": "c64", "output": "complex", "row_pitch_micrometres": 7, "image_rows": )" +
        std::to_string(rows) + ", \"image_columns\": " + std::to_string(columns) +
        ", \"distance_millimetres\": " + std::to_string(-distance) + "}";
    CHECK(error_of(reconstruct(back, {{"hologram", raw_bytes(found)}})[0], {field.begin(), field.end()}) <
          tolerance);
  }
}

TEST_CASE("a Gaussian beam spreads as it must") {
  const double waist = 3e-4, wavelength = 633e-9, distance = 0.05, pitch = 8e-6;
  constexpr std::int64_t side = 512;
  const Field found = reconstruct(
      R"({"synthetic": "gaussian", "rows": 512, "columns": 512, "output": "complex", "distance_millimetres": 50})")
      [0];
  const Exact spread(1, wavelength * distance / (pi * waist * waist));
  const Exact path = std::polar(1.0, 2 * pi * std::fmod(distance / wavelength, 1.0));
  std::vector<Exact> expected;
  for (std::int64_t m = 0; m < side; ++m) {
    for (std::int64_t n = 0; n < side; ++n) {
      const double x = static_cast<double>(n - side / 2) * pitch;
      const double y = static_cast<double>(m - side / 2) * pitch;
      expected.push_back(path / spread * std::exp(-(x * x + y * y) / (waist * waist * spread)));
    }
  }
  CHECK(error_of(found, expected) < tolerance);
}

TEST_CASE("the direct method is the Fresnel integral") {
  const std::uint64_t seed = 21;
  INFO("seed " << seed);
  Random random(seed);
  constexpr std::int64_t side = 64;
  const Field field = random_field(side, side, random);
  for (const double distance : {15.0, -22.0}) {
    Settings settings;
    settings.method = Method::direct;
    settings.distance = 1e-3 * distance;
    settings.column_pitch = 9e-6;
    const std::string parameters =
        R"({"format": "c64", "image_rows": 64, "image_columns": 64, "output": "complex", "method": "direct",)"
        R"("column_pitch_micrometres": 9, "distance_millimetres": )" +
        std::to_string(distance) + "}";
    const Field found = reconstruct(parameters, {{"hologram", raw_bytes(field)}})[0];
    CHECK(error_of(found, fresnel_sum(settings, field, side)) < tolerance);
  }
}

TEST_CASE("points come into focus where they are, in every view") {
  const std::string common =
      R"("synthetic": "points", "points": 1, "background": 1, "rows": 512, "columns": 512, "output": "complex",)"
      R"("row_pitch_micrometres": 8, "column_pitch_micrometres": 10, "distance_millimetres": -50)";
  const test::TemporaryDirectory directory;
  const Task task = task_of(directory, "{" + common + "}");
  const auto place = point_places(task.settings, 512, 512)[0];
  CHECK(brightest(reconstruct("{" + common + "}")[0], 512) == place);
  // Windows on either side of it see the point in the same place: both pitches, both signs.
  const std::vector<Field> views =
      reconstruct("{" + common + R"(, "apertures": "-60,50,200,200; 70,-40,180,220; 0,0,512,512"})");
  REQUIRE(views.size() == 3);
  for (const Field& view : views) CHECK(brightest(view, 512) == place);
}

TEST_CASE("a window is the hologram cut out, moved and tilted") {
  const std::uint64_t seed = 22;
  Random random(seed);
  constexpr std::int64_t side = 64;
  const Field field = random_field(side, side, random);
  const std::int64_t k = -9, l = 5, s = 21, t = 30;
  Settings settings;
  settings.distance = 0.003;
  settings.column_pitch = 1e-5;
  Field window(field.size());
  for (std::int64_t m = -(s / 2); m < s - s / 2; ++m) {
    for (std::int64_t n = -(t / 2); n < t - t / 2; ++n) {
      const double turns = (static_cast<double>(k * m) * settings.row_pitch * settings.row_pitch +
                            static_cast<double>(l * n) * settings.column_pitch * settings.column_pitch) /
                           (settings.wavelength * settings.distance);
      window[static_cast<std::size_t>((m + side / 2) * side + n + side / 2)] =
          Complex(Exact(field[static_cast<std::size_t>((m + k + side / 2) * side + n + l + side / 2)]) *
                  std::polar(1.0, 2 * pi * turns));
    }
  }
  const Field found = reconstruct(
      R"({"format": "c64", "image_rows": 64, "image_columns": 64, "output": "complex", "distance_millimetres": 3,)"
      R"("column_pitch_micrometres": 10, "apertures": "-9,5,21,30"})",
      {{"hologram", raw_bytes(field)}})[0];
  CHECK(error_of(found, convolution(settings, window, side, side)) < tolerance);
}

TEST_CASE("a plane is cut into blocks that cover it once") {
  Settings settings;
  settings.apertures = {{0, 0, 40, 64}, {30, 0, 300, 300}};
  const auto layout = Layout::make(settings, 200, 100);
  REQUIRE(layout.ok());
  CHECK(layout->rows() == 256);
  CHECK(layout->columns() == 128);
  CHECK(layout->views()[0].rows == Range{108, 148});
  CHECK(layout->views()[1].rows == Range{0, 198});
  CHECK(layout->views()[1].columns == Range{14, 114});
  for (int stage = 0; stage < 3; ++stage) {
    std::int64_t lines = 0;
    for (std::int64_t item = 0; item < layout->items(stage); ++item) {
      const Place place = layout->place(stage, item);
      if (stage > 0) CHECK(layout->item(stage, place) == item);
      lines += stage == 1 ? layout->block_columns() : layout->block_rows();
    }
    // Of stage 0 only blocks with rows of the window.
    CHECK(lines == (stage == 0 ? 48 + 200 : stage == 1 ? 2 * 128 : 2 * 256));
  }
  Settings whole;
  const auto largest = Layout::make(whole, 65536, 65536);
  REQUIRE(largest.ok());
  CHECK(largest->item_bytes(0) == 32 << 20);
  CHECK(largest->items(1) == 1024);
  whole.apertures = {{0, 0, 9, 9}, {1, 0, 9, 9}};
  CHECK_FALSE(Layout::make(whole, 65536, 65536).ok());
  whole.apertures = {{300, 0, 9, 9}};
  CHECK_FALSE(Layout::make(whole, 256, 256).ok());
}

TEST_CASE("what the manager combines is what memory holds, bit for bit") {
  const std::string parameters =
      R"({"synthetic": "points", "points": 3, "background": 1, "rows": 128, "columns": 256, "output": "complex",)"
      R"("distance_millimetres": -9, "raw": true, "picture": 64})";
  test::Application application("hologram", parameters);
  Files files;
  for (int stage = 0; application.plan(stage) != "end\n"; ++stage) {
    const auto items = application.compute({0, application.items()});
    // Processors without AVX and FMA, and another C library's choice of functions.
    REQUIRE((application.compute({0, application.items()},
                                 {"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX_Usable"}) ==
             items));
    application.restart_manager();
    files = application.combine(items, {{0, 3}, {3, application.items()}});
  }
  CHECK(files.at("field.c64") == raw_bytes(reconstruct(parameters)[0]));
  CHECK(files.contains("amplitude.png"));
  CHECK(files.contains("phase.png"));
  const json::Value report = json::parse_or_null(files.at("report.json"));
  CHECK(report["warnings"] == json::Value::array());
  const auto& view = report["views"][0];
  CHECK(view["energy_after"].number() == Approx(view["energy_before"].number()).epsilon(1e-5));
}

}  // namespace
}  // namespace gleaner::hologram
