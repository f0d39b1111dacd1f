#include "apps/raytrace/sampling.h"

#include <array>

#include "apps/kit/portable_math.h"

namespace gleaner::raytrace {
namespace {

constexpr std::size_t directions = 4096;

std::array<Disc, directions> make_table() {
  std::array<Disc, directions> table{};
  for (std::size_t i = 0; i < directions; ++i) {
    const double angle = 0x1.921fb54442d18p+2 * static_cast<double>(i) / directions;
    table[i] = {kit::portable_cos(angle), kit::portable_sin(angle)};
  }
  return table;
}

}  // namespace

Disc on_disc(Square square) {
  static const std::array<Disc, directions> table = make_table();
  const Disc direction = table[static_cast<std::size_t>(square.v * directions) % directions];
  const double radius = std::sqrt(square.u);
  return {radius * direction.x, radius * direction.y};
}

}  // namespace gleaner::raytrace
