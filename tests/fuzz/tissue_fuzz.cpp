// Tissue files: what is read is within its bounds, and a mistake names its line.
#include <cmath>

#include "apps/photons/tissue.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::photons;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tissue = parse_tissue(fuzz::text_of(data, size));
  if (!tissue.ok()) {
    CHECK_TRUE(!tissue.error().message.empty());
    return 0;
  }
  CHECK_TRUE(!tissue->layers.empty() && tissue->layers.size() <= static_cast<std::size_t>(layers_max));
  for (const TissueLayer& layer : tissue->layers) {
    CHECK_TRUE(layer.index >= 1 && layer.thickness > 0 && std::abs(layer.anisotropy) <= 1);
    CHECK_TRUE(layer.absorption >= 0 && layer.scattering >= 0);
    CHECK_TRUE(std::isfinite(layer.thickness) || &layer == &tissue->layers.back());
  }
  return 0;
}
