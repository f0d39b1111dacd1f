// Layered tissue as text, a statement a line (or between semicolons), '#' begins a comment:
//   above 1.0                              the refractive index over the tissue; 1 if it is not said
//   layer scalp 1.4 0.18 190 0.9 0.3       name, index, absorption and scattering [1/cm], anisotropy g,
//   layer brain 1.4 0.36 220 0.9 infinite  thickness [cm]; from the top; only the last may be infinite
//   below 1.0
// Untrusted input: everything is bounded, and mistakes are named with their line. Errors: invalid. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::photons {

inline constexpr int layers_max = 16;
inline constexpr std::size_t tissue_bytes_max = 16384;

struct TissueLayer {
  std::string name;
  double index = 1;
  double absorption = 0, scattering = 0;  // 1/cm
  double anisotropy = 0;                  // mean cosine of the angle of scattering
  double thickness = 0;                   // cm; infinity for the last layer of a half space
};

struct Tissue {
  double index_above = 1, index_below = 1;
  std::vector<TissueLayer> layers;
};

[[nodiscard]] Result<Tissue> parse_tissue(std::string_view text);

// The tissues that come with the application: head, slab, half-space. Empty if there is no such tissue.
[[nodiscard]] std::string_view bundled_tissue(std::string_view name);

}  // namespace gleaner::photons
