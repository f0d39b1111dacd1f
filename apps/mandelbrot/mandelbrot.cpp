#include "apps/mandelbrot/mandelbrot.h"

#include <bit>
#include <cmath>

#include "apps/kit/packing.h"
#include "apps/kit/portable_math.h"
#include "apps/mandelbrot/deep.h"
#include "apps/mandelbrot/lanes.h"

namespace gleaner::mandelbrot {
namespace {

constexpr double coordinate_max = 1e3;
constexpr std::int64_t view_magnitude_min = -2999;       // 1e-3000 or more
constexpr std::int64_t deep_iterations_max = 2'000'000;  // 32 MB of reference orbit
constexpr std::int64_t deep_digits_max =
    1'000'000'000;  // times iterations: the manager takes some ten seconds
constexpr std::int64_t side_max = 65536;
constexpr std::int64_t pixels_max = std::int64_t{1} << 31;  // 16 GiB of results
constexpr std::int64_t iterations_max = 100'000'000;
constexpr std::int64_t row_iterations_max = 20'000'000'000;  // about two minutes a row
constexpr double escape_square = 4;
constexpr double smooth_square = 65536;  // far out, where the fraction is smooth to the eye
constexpr int smooth_iterations_max = 64;
constexpr std::int64_t progress_pixels = 16;

// Takes the points of a row as they are done, in any order. Fractions come last, all together: there they do
// not wait for each other.
struct RowCollector {
  struct Done {
    std::int64_t count = 0;
    double real = 0, imaginary = 0;
  };
  const Settings& settings;
  kit::ItemContext& context;
  std::vector<Done> row;

  static void done(void* pointer, std::int64_t column, std::int64_t count, double real, double imaginary) {
    static_cast<RowCollector*>(pointer)->row[static_cast<std::size_t>(column)] = {count, real, imaginary};
  }
  static bool wanted(void* pointer, std::int64_t column) {
    const auto& self = *static_cast<RowCollector*>(pointer);
    self.context.progress(static_cast<double>(column) / static_cast<double>(self.settings.width));
    return !self.context.abandoned();
  }
};

// How many updates of z stay within |z|^2 <= 4, at most `iterations`; z is then the one after the last
// update.
std::int64_t count_updates(double x, double y, std::int64_t iterations, double& real, double& imaginary) {
  double real_square = 0;
  double imaginary_square = 0;
  std::int64_t count = 0;
  while (count < iterations) {
    imaginary = 2 * real * imaginary + y;
    real = real_square - imaginary_square + x;
    real_square = real * real;
    imaginary_square = imaginary * imaginary;
    if (real_square + imaginary_square > escape_square) break;
    ++count;
  }
  return count;
}

// Point by point.
void escape_row(const RowWork& work) {
  for (std::int64_t column = 0; column < work.columns; ++column) {
    if (column % progress_pixels == 0 && !work.wanted(work.context, column)) return;
    double real = 0;
    double imaginary = 0;
    const std::int64_t count = count_updates(work.x[column], work.y, work.iterations, real, imaginary);
    work.done(work.context, column, count, real, imaginary);
  }
}

void (*variant(kit::CpuLevel level))(const RowWork&) {
#if defined(__x86_64__)
  if (level == kit::CpuLevel::avx512) return avx512::escape_row;
  if (level == kit::CpuLevel::avx2) return avx2::escape_row;
#endif
  CHECK_TRUE(level == kit::CpuLevel::baseline);
  return escape_row;
}

void check_sizes(const Settings& settings, kit::Parameters& parameters) {
  if (settings.width * settings.height > pixels_max) {
    parameters.mistake("height", "width times height is " + std::to_string(settings.width * settings.height) +
                                     " pixels; at most 2147483648 are allowed: make the picture smaller");
  }
  if (settings.width > row_iterations_max / settings.iterations) {
    parameters.mistake("iterations",
                       "a row of this width may take over 20000000000 iterations, which is minutes: lower "
                       "iterations or width");
  }
}

// Is the distance of two pixels below `part` of the region's coordinates?
bool finer_than(double part, double low, double high, std::int64_t pixels) {
  const double step = (high - low) / static_cast<double>(pixels);
  return step < std::max(std::abs(low), std::abs(high)) * part;
}

void read_region(Settings& settings, kit::Parameters& parameters) {
  const kit::Bounds<double> coordinates{-coordinate_max, coordinate_max};
  settings.x_min = parameters.number("x_min", coordinates, settings.x_min);
  settings.x_max = parameters.number("x_max", coordinates, settings.x_max);
  settings.y_min = parameters.number("y_min", coordinates, settings.y_min);
  settings.y_max = parameters.number("y_max", coordinates, settings.y_max);
  if (!(settings.x_min < settings.x_max)) parameters.mistake("x_max", "must be greater than x_min");
  if (!(settings.y_min < settings.y_max)) parameters.mistake("y_max", "must be greater than y_min");
  // Pixels closer than a few spacings of doubles would all be the same point.
  if (settings.x_min < settings.x_max &&
      finer_than(0x1p-50, settings.x_min, settings.x_max, settings.width)) {
    parameters.mistake("x_min",
                       "the region is too narrow for double precision: give centre_x, centre_y and "
                       "view_width instead");
  }
  if (settings.y_min < settings.y_max &&
      finer_than(0x1p-50, settings.y_min, settings.y_max, settings.height)) {
    parameters.mistake("y_min",
                       "the region is too low for double precision: give centre_x, centre_y and "
                       "view_width instead");
  }
}

Decimal read_decimal(kit::Parameters& parameters, const std::string& key) {
  const auto number = parse_decimal(parameters.numeral(key, decimal_length_max, std::nullopt));
  if (number && (number->zero() || number->magnitude() <= 3)) return *number;
  if (parameters.has(key))
    parameters.mistake(key, "must be a number below 1000 of at most 4000 characters, such as \"-1.25e-3\"");
  return {};
}

void read_view(Settings& settings, kit::Parameters& parameters) {
  for (const char* key : {"x_min", "x_max", "y_min", "y_max"}) {
    if (parameters.has(key))
      parameters.mistake(key, "give either the region or centre_x, centre_y and view_width");
    static_cast<void>(parameters.number(key, {-coordinate_max, coordinate_max}, 0.0));
  }
  settings.centre_x = read_decimal(parameters, "centre_x");
  settings.centre_y = read_decimal(parameters, "centre_y");
  settings.view_width = read_decimal(parameters, "view_width");
  if (settings.view_width.zero() || settings.view_width.negative ||
      settings.view_width.magnitude() < view_magnitude_min) {
    parameters.mistake("view_width", "must be above 1e-3000");
    settings.view_width = *parse_decimal("3");
  }
  const double x = settings.centre_x.approximate(), y = settings.centre_y.approximate();
  const double half_width = settings.view_width.approximate() / 2;
  const double half_height =
      half_width / static_cast<double>(settings.width) * static_cast<double>(settings.height);
  settings.x_min = x - half_width;
  settings.x_max = x + half_width;
  settings.y_min = y - half_height;
  settings.y_max = y + half_height;
  // With bits to spare, so that where one method ends and the other begins cannot be seen.
  settings.deep = half_width < 0x1p-900 ||
                  finer_than(0x1p-40, settings.x_min, settings.x_max, settings.width) ||
                  finer_than(0x1p-40, settings.y_min, settings.y_max, settings.height);
  if (settings.deep && settings.iterations > deep_iterations_max) {
    parameters.mistake(
        "iterations", "at most " + std::to_string(deep_iterations_max) + " in a view below double precision");
  } else if (settings.deep && settings.iterations > deep_digits_max / (1 - settings.view_width.magnitude())) {
    parameters.mistake("iterations", "iterations times digits of the view's width may be 1000000000 at most");
  }
}

class RowKernel final : public kit::Kernel {
 public:
  RowKernel(Settings settings, ReferenceOrbit orbit)
      : settings_(std::move(settings)), orbit_(std::move(orbit)) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "mandelbrot has one stage: 0"};
    if (item < 0 || item >= settings_.height) return Error{ErrorKind::invalid, "there is no such row"};
    return settings_.deep ? compute_deep_row(settings_, orbit_, item, context)
                          : compute_row(settings_, item, context);
  }

 private:
  Settings settings_;
  ReferenceOrbit orbit_;  // of a deep view
};

}  // namespace

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  settings.width = parameters.integer("width", {1, side_max}, settings.width);
  settings.height = parameters.integer("height", {1, side_max}, settings.height);
  settings.iterations = parameters.integer("iterations", {1, iterations_max}, settings.iterations);
  const std::string colour = parameters.choice("colour", {"smooth", "counts"}, "smooth");
  settings.colour = colour == "smooth" ? Colour::smooth : Colour::counts;
  const bool by_centre =
      parameters.has("centre_x") || parameters.has("centre_y") || parameters.has("view_width");
  if (by_centre)
    read_view(settings, parameters);
  else
    read_region(settings, parameters);
  check_sizes(settings, parameters);
  TRY(parameters.finish());
  return settings;
}

double column_x(const Settings& settings, std::int64_t column) {
  const double half_step = (settings.x_max - settings.x_min) / static_cast<double>(2 * settings.width);
  return (settings.x_min + settings.x_max) / 2 +
         static_cast<double>(2 * column + 1 - settings.width) * half_step;
}

double row_y(const Settings& settings, std::int64_t row) {
  const double half_step = (settings.y_max - settings.y_min) / static_cast<double>(2 * settings.height);
  return (settings.y_min + settings.y_max) / 2 +
         static_cast<double>(settings.height - 2 * row - 1) * half_step;
}

float smooth_fraction(double x, double y, double real, double imaginary) {
  double real_square = real * real;
  double imaginary_square = imaginary * imaginary;
  int extra = 0;
  while (real_square + imaginary_square <= smooth_square && extra < smooth_iterations_max) {
    imaginary = 2 * real * imaginary + y;
    real = real_square - imaginary_square + x;
    real_square = real * real;
    imaginary_square = imaginary * imaginary;
    ++extra;
  }
  // nu = n + 1 - log2(log |z|), with log |z| = log(|z|^2) / 2
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  const double logarithm = kit::portable_log(real_square + imaginary_square) / 2;
  return static_cast<float>(extra + 1 - kit::portable_log(logarithm) / ln2);
}

Escape escape_of(double x, double y, std::int64_t iterations) {
  double real = 0;
  double imaginary = 0;
  const std::int64_t count = count_updates(x, y, iterations, real, imaginary);
  if (count == iterations) return {static_cast<std::uint32_t>(count), 0};
  return {static_cast<std::uint32_t>(count), smooth_fraction(x, y, real, imaginary)};
}

void append_pixel(Bytes& row, const Escape& escape) {
  kit::pack(row, escape.count);
  kit::pack(row, std::bit_cast<std::uint32_t>(escape.fraction));
}

Bytes compute_row(const Settings& settings, std::int64_t row, kit::ItemContext& context,
                  kit::CpuLevel level) {
  std::vector<double> x(static_cast<std::size_t>(settings.width));
  for (std::int64_t column = 0; column < settings.width; ++column)
    x[static_cast<std::size_t>(column)] = column_x(settings, column);
  const double y = row_y(settings, row);
  RowCollector collector{settings, context, std::vector<RowCollector::Done>(x.size())};
  const RowWork work{x.data(),           settings.width,      y, settings.iterations, &collector,
                     RowCollector::done, RowCollector::wanted};
  variant(level)(work);
  if (context.abandoned()) return {};
  Bytes bytes;
  bytes.reserve(static_cast<std::size_t>(settings.width * pixel_bytes));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto& [count, real, imaginary] = collector.row[i];
    const float fraction = count == settings.iterations ? 0.0F : smooth_fraction(x[i], y, real, imaginary);
    append_pixel(bytes, {static_cast<std::uint32_t>(count), fraction});
  }
  return bytes;
}

std::vector<Escape> decode_row(std::string_view bytes) {
  CHECK_TRUE(bytes.size() % pixel_bytes == 0);
  std::vector<Escape> row(bytes.size() / pixel_bytes);
  kit::Unpacker unpacker(bytes);
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i].count = unpacker.get<std::uint32_t>();
    row[i].fraction = std::bit_cast<float>(unpacker.get<std::uint32_t>());
  }
  return row;
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(const Settings settings, read_settings(problem));
  ReferenceOrbit orbit;
  if (settings.deep) {
    TRY_ASSIGN(const Bytes bytes, problem.read_input(reference_input, reference_bytes_max));
    TRY_ASSIGN(orbit, decode_reference(bytes));
  }
  return std::unique_ptr<kit::Kernel>(std::make_unique<RowKernel>(settings, std::move(orbit)));
}

}  // namespace gleaner::mandelbrot
