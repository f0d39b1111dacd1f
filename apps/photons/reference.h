// The plain way: one photon after the other with the C library's log, sin and cos and a sequential generator,
// in the steps of the MCML manual (Wang, Jacques and Zheng 1995). What the kernel is compared with, in
// speed by tools/bench and in its answers by the tests; it shares no code with it.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/photons/settings.h"

namespace gleaner::photons {

struct ReferenceResult {
  double reflected = 0, transmitted = 0, absorbed = 0;  // of the weight sent, without what entry reflects
  double detected = 0, path = 0;                        // the ring's weight, and that times the path in cm
  std::vector<double> grid;                             // absorbed, [radial_cells][depth_cells]
};

[[nodiscard]] ReferenceResult reference_walk(const Settings& settings, std::int64_t photons,
                                             std::uint32_t seed);

}  // namespace gleaner::photons
