#include "apps/hologram/waves.h"

#include <algorithm>
#include <cmath>

#include "apps/kit/portable_math.h"

namespace gleaner::hologram {

Complex phasor(double turns) {
  constexpr double two_pi = 0x1.921fb54442d18p+2;
  const double angle = two_pi * (turns - std::floor(turns));
  return {static_cast<float>(kit::portable_cos(angle)), static_cast<float>(kit::portable_sin(angle))};
}

std::vector<Complex> transfer(const Settings& settings, std::int64_t count, double pitch) {
  const double width = static_cast<double>(count) * pitch;
  const double scale = settings.wavelength * settings.distance / (2 * width * width);
  std::vector<Complex> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto frequency = static_cast<double>(i < count / 2 ? i : i - count);
    values[static_cast<std::size_t>(i)] = phasor(-scale * (frequency * frequency));
  }
  return values;
}

std::vector<Complex> chirp(const Settings& settings, std::int64_t count, double pitch) {
  const double scale = pitch * pitch / (2 * settings.wavelength * settings.distance);
  std::vector<Complex> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<double>(i - count / 2);
    const Complex value = phasor(scale * (place * place));
    values[static_cast<std::size_t>(i)] = i % 2 == 0 ? value : -value;
  }
  return values;
}

double direct_pitch(const Settings& settings, std::int64_t count, double pitch) {
  return settings.wavelength * std::abs(settings.distance) / (static_cast<double>(count) * pitch);
}

Complex path_phase(const Settings& settings) {
  return phasor(settings.distance / settings.wavelength);
}

double distance_limit(const Settings& settings, std::int64_t rows, std::int64_t columns) {
  const double vertical =
      static_cast<double>(rows) * settings.row_pitch * settings.row_pitch / settings.wavelength;
  const double horizontal =
      static_cast<double>(columns) * settings.column_pitch * settings.column_pitch / settings.wavelength;
  return settings.method == Method::convolution ? std::min(vertical, horizontal)
                                                : std::max(vertical, horizontal);
}

}  // namespace gleaner::hologram
