#include "apps/mandelbrot/mandelbrot.h"

#include <bit>
#include <cmath>

#include "apps/kit/packing.h"
#include "apps/kit/portable_math.h"
#include "apps/mandelbrot/lanes.h"

namespace gleaner::mandelbrot {
namespace {

constexpr double coordinate_max = 1e3;
constexpr std::int64_t side_max = 65536;
constexpr std::int64_t pixels_max = std::int64_t{1} << 31;  // 16 GiB of results
constexpr std::int64_t iterations_max = 100'000'000;
constexpr std::int64_t row_iterations_max = 20'000'000'000;  // about two minutes a row
constexpr double escape_square = 4;
constexpr double smooth_square = 65536;  // far out, where the fraction is smooth to the eye
constexpr int smooth_iterations_max = 64;
constexpr std::int64_t progress_pixels = 16;

// How far a point is between its count and the next, from the state that escaped.
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
  if (!(settings.x_min < settings.x_max)) parameters.mistake("x_max", "must be greater than x_min");
  if (!(settings.y_min < settings.y_max)) parameters.mistake("y_max", "must be greater than y_min");
  if (settings.width * settings.height > pixels_max) {
    parameters.mistake("height", "width times height is " + std::to_string(settings.width * settings.height) +
                                     " pixels; at most 2147483648 are allowed: make the picture smaller");
  }
  if (settings.width > row_iterations_max / settings.iterations) {
    parameters.mistake("iterations",
                       "a row of this width may take over 20000000000 iterations, which is minutes: lower "
                       "iterations or width");
  }
  // Pixels closer than a few spacings of doubles would all be the same point.
  const double x_step = (settings.x_max - settings.x_min) / static_cast<double>(settings.width);
  const double y_step = (settings.y_max - settings.y_min) / static_cast<double>(settings.height);
  const double x_magnitude = std::max(std::abs(settings.x_min), std::abs(settings.x_max));
  const double y_magnitude = std::max(std::abs(settings.y_min), std::abs(settings.y_max));
  if (x_step > 0 && x_step < x_magnitude * 0x1p-50) {
    parameters.mistake("x_min", "the region is too narrow for double precision: widen it");
  }
  if (y_step > 0 && y_step < y_magnitude * 0x1p-50) {
    parameters.mistake("y_min", "the region is too low for double precision: heighten it");
  }
}

class RowKernel final : public kit::Kernel {
 public:
  explicit RowKernel(const Settings& settings) : settings_(settings) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "mandelbrot has one stage: 0"};
    if (item < 0 || item >= settings_.height) return Error{ErrorKind::invalid, "there is no such row"};
    return compute_row(settings_, item, context);
  }

 private:
  Settings settings_;
};

}  // namespace

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  const kit::Bounds<double> coordinates{-coordinate_max, coordinate_max};
  settings.x_min = parameters.number("x_min", coordinates, settings.x_min);
  settings.x_max = parameters.number("x_max", coordinates, settings.x_max);
  settings.y_min = parameters.number("y_min", coordinates, settings.y_min);
  settings.y_max = parameters.number("y_max", coordinates, settings.y_max);
  settings.width = parameters.integer("width", {1, side_max}, settings.width);
  settings.height = parameters.integer("height", {1, side_max}, settings.height);
  settings.iterations = parameters.integer("iterations", {1, iterations_max}, settings.iterations);
  const std::string colour = parameters.choice("colour", {"smooth", "counts"}, "smooth");
  settings.colour = colour == "smooth" ? Colour::smooth : Colour::counts;
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

Escape escape_of(double x, double y, std::int64_t iterations) {
  double real = 0;
  double imaginary = 0;
  const std::int64_t count = count_updates(x, y, iterations, real, imaginary);
  if (count == iterations) return {static_cast<std::uint32_t>(count), 0};
  return {static_cast<std::uint32_t>(count), smooth_fraction(x, y, real, imaginary)};
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
    kit::pack(bytes, static_cast<std::uint32_t>(count));
    kit::pack(bytes, std::bit_cast<std::uint32_t>(fraction));
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
  return std::unique_ptr<kit::Kernel>(std::make_unique<RowKernel>(settings));
}

}  // namespace gleaner::mandelbrot
