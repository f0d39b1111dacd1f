#include "apps/mandelbrot/palette.h"

#include <array>
#include <cmath>

#include "apps/kit/portable_math.h"

namespace gleaner::mandelbrot {
namespace {

using Rgb = std::array<double, 3>;
// One turn of the colours, at equal distances: deep blue, blue, pale, amber, brown, and back.
constexpr std::array<Rgb, 6> stops{
    {{0, 7, 60}, {24, 92, 190}, {214, 244, 255}, {255, 196, 60}, {178, 62, 10}, {26, 4, 30}}};
constexpr double turn = 5.5;  // in units of log(1 + count): the outside changes fast, the fringe slowly

}  // namespace

void Palette::append(Bytes& rgb, const Escape& escape) const {
  if (escape.count == settings_.iterations) {
    rgb.append(3, '\0');
    return;
  }
  const double fraction = settings_.colour == Colour::smooth ? static_cast<double>(escape.fraction) : 0.0;
  const double level = std::max(0.0, escape.count + fraction);
  const double at = kit::portable_log(1 + level) / turn * static_cast<double>(stops.size());
  const double below = std::floor(at);
  const double part = at - below;
  const Rgb& from = stops[static_cast<std::size_t>(below) % stops.size()];
  const Rgb& to = stops[(static_cast<std::size_t>(below) + 1) % stops.size()];
  const double eased = part * part * (3 - 2 * part);
  for (std::size_t i = 0; i < 3; ++i) {
    rgb.push_back(static_cast<char>(static_cast<unsigned char>(from[i] + (to[i] - from[i]) * eased + 0.5)));
  }
}

}  // namespace gleaner::mandelbrot
