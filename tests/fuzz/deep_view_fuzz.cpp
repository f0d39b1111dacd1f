// What a deep view of the Mandelbrot set reads: decimal numbers ('d') and reference orbits.
#include <cmath>

#include "apps/mandelbrot/deep.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::mandelbrot;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  if (data[0] == 'd') {
    const auto number = parse_decimal(text);
    if (!number) return 0;
    CHECK_TRUE(number->zero() || (number->digits.front() != '0' && number->digits.back() != '0'));
    if (number->zero() || number->magnitude() <= 300) CHECK_TRUE(std::isfinite(number->approximate()));
    return 0;
  }
  const auto orbit = decode_reference(text);
  if (!orbit.ok()) return 0;
  // Any orbit that is taken can be followed without harm.
  Settings settings;
  settings.width = settings.height = 3;
  const auto iterations = static_cast<std::int64_t>(orbit->points.size()) - 1;
  CHECK_TRUE(deep_escape(settings, *orbit, 2, 0, iterations).count <= iterations);
  return 0;
}
