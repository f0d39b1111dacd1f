#include "apps/mandelbrot/mandelbrot_manager.h"

#include <cmath>
#include <random>

#include "apps/kit/rows.h"
#include "apps/mandelbrot/palette.h"
#include "apps/mandelbrot/reference_orbit.h"

namespace gleaner::mandelbrot {
namespace {

constexpr std::int64_t sampled_rows_max = 400;
constexpr std::int64_t sampled_columns_max = 48;
constexpr std::int64_t sampled_iterations_max = 4000;
// A deep view's points take long before the first escapes.
constexpr std::int64_t deep_rows_max = 64, deep_columns_max = 12, deep_sampling_max = 50'000'000;
constexpr std::int64_t checked_iterations_max = 10'000'000;  // of a pixel: some hundredths of a second
// In the working directory, so that it lasts.
constexpr const char* reference_file = "reference.bin";
constexpr double pixel_overhead =
    12;  // a pixel costs about as much as this many iterations even if it escapes at once

// Totals over all points; apps/mandelbrot/README.md has golden numbers for them.
struct Totals {
  std::int64_t never_escaping = 0;
  std::int64_t summed_counts = 0;  // below 2^31 pixels times 10^8
  std::int64_t rows = 0;
};

std::string to_json(const Settings& settings, const Totals& totals) {
  const double pixel_area = (settings.x_max - settings.x_min) / static_cast<double>(settings.width) *
                            ((settings.y_max - settings.y_min) / static_cast<double>(settings.height));
  char area[40];
  std::snprintf(area, sizeof area, "%.9g", static_cast<double>(totals.never_escaping) * pixel_area);
  return "{\n  \"width\": " + std::to_string(settings.width) +
         ",\n  \"height\": " + std::to_string(settings.height) +
         ",\n  \"iterations\": " + std::to_string(settings.iterations) +
         ",\n  \"rows\": " + std::to_string(totals.rows) +
         ",\n  \"never_escaping\": " + std::to_string(totals.never_escaping) +
         ",\n  \"summed_counts\": " + std::to_string(totals.summed_counts) + ",\n  \"area\": " + area +
         "\n}\n";
}

Status check_row(const Settings& settings, std::string_view bytes) {
  if (bytes.size() != static_cast<std::size_t>(settings.width * pixel_bytes)) {
    return Error{ErrorKind::invalid, "a row has " + std::to_string(settings.width * pixel_bytes) +
                                         " bytes, not " + std::to_string(bytes.size())};
  }
  for (const Escape& escape : decode_row(bytes)) {
    if (escape.count > settings.iterations)
      return Error{ErrorKind::invalid, "a count is above the iterations"};
    const bool inside = escape.count == settings.iterations;
    const bool plausible = inside ? escape.fraction == 0 : escape.fraction > -16 && escape.fraction < 80;
    if (!plausible) return Error{ErrorKind::invalid, "a fraction is out of bounds"};
  }
  return {};
}

}  // namespace

Status MandelbrotManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(settings_, read_settings(problem));
  orbit_.reset();
  return {};
}

std::vector<kit::ItemHint> estimate_costs(const Settings& settings, const ReferenceOrbit* orbit) {
  const std::int64_t rows = std::min(settings.height, orbit ? deep_rows_max : sampled_rows_max);
  const std::int64_t columns = std::min(settings.width, orbit ? deep_columns_max : sampled_columns_max);
  const std::int64_t iterations =
      std::min(settings.iterations, orbit ? deep_sampling_max / (rows * columns) : sampled_iterations_max);
  std::vector<double> sampled(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = i * (settings.height - 1) / std::max<std::int64_t>(rows - 1, 1);
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t column = (2 * j + 1) * settings.width / (2 * columns);
      const Escape escape = orbit ? deep_escape(settings, *orbit, column, row, iterations)
                                  : escape_of(column_x(settings, column), row_y(settings, row), iterations);
      // A point that outlasts the sampling is taken never to escape.
      sum += escape.count == iterations ? static_cast<double>(settings.iterations) : escape.count;
    }
    sampled[static_cast<std::size_t>(i)] = sum / static_cast<double>(columns) + pixel_overhead;
  }
  std::vector<kit::ItemHint> hints(static_cast<std::size_t>(settings.height));
  double total = 0;
  for (std::size_t row = 0; row < hints.size(); ++row) {
    const double at = hints.size() > 1 ? static_cast<double>(row) * static_cast<double>(rows - 1) /
                                             static_cast<double>(hints.size() - 1)
                                       : 0;
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sampled.size() - 1);
    const double part = at - static_cast<double>(below);
    hints[row].cost = sampled[below] * (1 - part) + sampled[above] * part;
    hints[row].parameters = {static_cast<std::int64_t>(hints[row].cost)};
    total += hints[row].cost;
  }
  for (kit::ItemHint& hint : hints) hint.cost *= static_cast<double>(hints.size()) / total;
  return hints;
}

Result<std::optional<kit::Stage>> MandelbrotManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  if (!settings_.deep)
    return std::optional(kit::Stage{settings_.height, "rows", estimate_costs(settings_), {}});
  TRY_ASSIGN(orbit_, compute_reference(settings_));
  TRY(kit::write_file(reference_file, encode(*orbit_)));
  return std::optional(kit::Stage{settings_.height,
                                  "rows",
                                  estimate_costs(settings_, &*orbit_),
                                  {{reference_input, reference_file, std::nullopt}}});
}

Status MandelbrotManager::load_orbit() {
  if (!settings_.deep || orbit_) return {};
  TRY_ASSIGN(const Bytes bytes, kit::read_file(reference_file, reference_bytes_max));
  TRY_ASSIGN(orbit_, decode_reference(bytes));
  return {};
}

Status MandelbrotManager::check_pixel(std::int64_t row, std::string_view bytes) const {
  std::random_device device;
  const std::int64_t column = static_cast<std::int64_t>(device()) % settings_.width;
  const Escape claimed = decode_row(bytes)[static_cast<std::size_t>(column)];
  if (claimed.count > checked_iterations_max) return {};
  // One more than claimed tells whether it went on.
  const std::int64_t iterations =
      std::min<std::int64_t>(settings_.iterations, std::int64_t{claimed.count} + 1);
  const Escape escape = settings_.deep
                            ? deep_escape(settings_, *orbit_, column, row, iterations)
                            : escape_of(column_x(settings_, column), row_y(settings_, row), iterations);
  if (escape.count == claimed.count && escape.fraction == claimed.fraction) return {};
  return Error{ErrorKind::invalid, "a pixel, computed again, comes out differently"};
}

Result<kit::Validation> MandelbrotManager::validate(int stage, kit::SegmentReader& segment) {
  TRY(load_orbit());
  const Range range = segment.range();
  std::random_device device;
  const std::int64_t chosen =
      range.empty() ? -1 : range.begin + static_cast<std::int64_t>(device()) % range.size();
  return kit::check_each(segment, stage == 0 ? settings_.height : 0, "row",
                         [&](std::int64_t row, std::string_view bytes) -> Status {
                           TRY(check_row(settings_, bytes));
                           return row == chosen ? check_pixel(row, bytes) : Status();
                         });
}

Status MandelbrotManager::draw(kit::ItemSource& items, kit::Output& output) const {
  const Palette palette(settings_);
  Totals totals;
  const auto colours = [&](const kit::Item& row) -> Result<Bytes> {
    TRY(check_row(settings_, row.bytes));
    Bytes rgb;
    rgb.reserve(static_cast<std::size_t>(3 * settings_.width));
    for (const Escape& escape : decode_row(row.bytes)) {
      totals.never_escaping += escape.count == settings_.iterations;
      totals.summed_counts += escape.count;
      palette.append(rgb, escape);
    }
    ++totals.rows;
    return rgb;
  };
  TRY(kit::draw_rows(items, output, settings_.width, settings_.height, colours));
  TRY(kit::write_file(output.directory() / "counts.json", to_json(settings_, totals)));
  output.result("counts.json", "application/json");
  return {};
}

Status MandelbrotManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "mandelbrot has one stage: 0"};
  TRY(items.require_all(settings_.height));
  return draw(items, output);
}

Status MandelbrotManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "mandelbrot has one stage: 0"};
  TRY(items.require_within(settings_.height));
  return draw(items, output);
}

}  // namespace gleaner::mandelbrot
