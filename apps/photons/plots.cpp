#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "apps/kit/png.h"
#include "apps/kit/portable_math.h"
#include "apps/kit/svg.h"
#include "apps/photons/report.h"

namespace gleaner::photons {
namespace {

constexpr double decades = 6;      // of a map
constexpr double decades_max = 8;  // of a curve
constexpr std::int64_t map_width = 800;

double log10_of(double x) {
  constexpr double ln10 = 0x1.26bb1bbb55516p+1;
  return kit::portable_log(x) / ln10;
}

std::string shown(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

kit::Axis linear_axis(const std::string& title, double high) {
  double power = 1;
  while (power * 10 <= high) power *= 10;
  while (power > high) power /= 10;
  const double step = high / power >= 5 ? power : high / power >= 2 ? power / 2 : power / 5;
  kit::Axis axis{title, 0, high, {}};
  for (int i = 0; step * i <= high * (1 + 1e-9); ++i) axis.ticks.emplace_back(step * i, shown(step * i));
  return axis;
}

// Curves of positive values over x, the logarithm of them; what is 0 is left out.
std::string log_chart(const std::string& title, const std::string& x_title, const std::string& y_title,
                      double x_high, std::vector<kit::Curve> curves) {
  double low = 1e300, high = -1e300;
  for (kit::Curve& curve : curves) {
    std::erase_if(curve.points, [](const auto& point) { return !(point.second > 0); });
    for (auto& [x, y] : curve.points) {
      y = log10_of(y);
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  std::erase_if(curves, [](const kit::Curve& curve) { return curve.points.empty(); });
  if (curves.empty()) low = -1, high = 0;
  high = std::ceil(high + 1e-9);
  low = std::max(std::floor(low), high - decades_max);
  for (kit::Curve& curve : curves)
    for (auto& [x, y] : curve.points) y = std::max(y, low);
  kit::Axis y{y_title, low, high, {}};
  for (double power = low; power <= high; power += 1) y.ticks.emplace_back(power, "1e" + shown(power));
  return kit::draw_chart(title, linear_axis(x_title, x_high), y, curves);
}

using Rgb = std::array<double, 3>;

// From the lowest of `decades` to the highest: black, blue, red, yellow, white.
void append_colour(Bytes& rgb, double value, double highest) {
  constexpr std::array<Rgb, 5> stops{
      {{0, 0, 0}, {40, 30, 140}, {190, 40, 60}, {250, 190, 50}, {255, 255, 255}}};
  double level = value > 0 && highest > 0 ? 1 + log10_of(value / highest) / decades : 0;
  level = std::clamp(level, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(level), stops.size() - 2);
  const double part = level - static_cast<double>(below);
  for (std::size_t i = 0; i < 3; ++i) {
    const double colour = stops[below][i] + (stops[below + 1][i] - stops[below][i]) * part;
    rgb.push_back(static_cast<char>(static_cast<unsigned char>(colour + 0.5)));
  }
}

// `value(column, row)` over columns x rows cells, each a square of pixels.
Status draw_map(const Settings& settings, const std::filesystem::path& path, std::int64_t columns,
                const std::function<double(std::int64_t, std::int64_t)>& value) {
  const std::int64_t rows = settings.depth_cells;
  const std::int64_t side = std::max<std::int64_t>(1, map_width / columns);
  double highest = 0;
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) highest = std::max(highest, value(column, row));
  }
  // The cells that a layer ends in.
  std::vector<char> border(static_cast<std::size_t>(rows), 0);
  double depth = 0;
  for (const TissueLayer& layer : settings.tissue.layers) {
    depth += layer.thickness;
    const double cell = depth / settings.depth_step;
    if (cell < static_cast<double>(rows)) border[static_cast<std::size_t>(cell)] = 1;
  }
  TRY_ASSIGN(kit::PngWriter picture, kit::PngWriter::create(path, columns * side, rows * side));
  for (std::int64_t row = 0; row < rows; ++row) {
    Bytes rgb;
    for (std::int64_t column = 0; column < columns; ++column) {
      Bytes colour;
      append_colour(colour, value(column, row), highest);
      for (std::int64_t i = 0; i < side; ++i) rgb += colour;
    }
    for (std::int64_t i = 0; i < side; ++i) {
      const bool line = i == 0 && border[static_cast<std::size_t>(row)] != 0;
      TRY(picture.write_row(line ? Bytes(rgb.size(), '\x78') : rgb));
    }
  }
  return picture.finish();
}

}  // namespace

std::string radius_chart(const Sums& sums) {
  const Settings& settings = sums.settings();
  kit::Curve reflected{"reflected", {}}, transmitted{"transmitted", {}};
  for (std::int64_t r = 0; r < settings.radial_cells; ++r) {
    const double radius = (static_cast<double>(r) + 0.5) * settings.radial_step;
    reflected.points.emplace_back(radius, reflected_at(sums, r).value);
    transmitted.points.emplace_back(radius, transmitted_at(sums, r).value);
  }
  return log_chart("Light that leaves", "distance from the source, cm", "part per cm^2",
                   settings.radial_step * static_cast<double>(settings.radial_cells),
                   {reflected, transmitted});
}

std::string depth_chart(const Sums& sums) {
  const Settings& settings = sums.settings();
  kit::Curve fluence{"fluence", {}}, absorbed{"absorbed per cm", {}};
  for (std::int64_t z = 0; z < settings.depth_cells; ++z) {
    const double depth = (static_cast<double>(z) + 0.5) * settings.depth_step;
    double sum = 0;
    for (std::int64_t r = 0; r <= settings.radial_cells; ++r)
      sum += sums.of(sums.layout().absorbed + r * (settings.depth_cells + 1) + z).value;
    sum /= settings.depth_step;
    const double coefficient = absorption_at(settings, z);
    absorbed.points.emplace_back(depth, sum);
    fluence.points.emplace_back(depth, coefficient > 0 ? sum / coefficient : 0);
  }
  return log_chart("Light inside", "depth, cm", "",
                   settings.depth_step * static_cast<double>(settings.depth_cells), {fluence, absorbed});
}

std::string path_chart(const Sums& sums) {
  const Settings& settings = sums.settings();
  kit::Curve weights{"", {}};
  for (std::int64_t i = 0; i < settings.path_bins; ++i) {
    weights.points.emplace_back((static_cast<double>(i) + 0.5) * settings.path_step,
                                sums.of(sums.layout().histogram + i).value / settings.path_step);
  }
  return log_chart("Paths of detected light", "path, cm", "part per cm",
                   settings.path_step * static_cast<double>(settings.path_bins), {weights});
}

Status draw_fluence(const Sums& sums, const std::filesystem::path& path) {
  const Settings& settings = sums.settings();
  const std::int64_t radial = settings.radial_cells;
  return draw_map(settings, path, 2 * radial, [&](std::int64_t column, std::int64_t row) {
    const std::int64_t r = column >= radial ? column - radial : radial - 1 - column;
    const double coefficient = absorption_at(settings, row);
    return coefficient > 0 ? absorbed_at(sums, r, row).value / coefficient : 0;
  });
}

Status draw_visits(const Sums& sums, const std::filesystem::path& path) {
  const Settings& settings = sums.settings();
  return draw_map(settings, path, 2 * settings.radial_cells, [&](std::int64_t column, std::int64_t row) {
    return sums.total(sums.layout().visits + column * settings.depth_cells + row);
  });
}

}  // namespace gleaner::photons
