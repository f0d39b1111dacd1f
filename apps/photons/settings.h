// The parameters of a light transport problem, and what follows from them.
#pragma once

#include <cstdint>

#include "apps/kit/problem.h"
#include "apps/photons/tissue.h"
#include "apps/photons/transport.h"
#include "shared/base/range_set.h"

namespace gleaner::photons {

struct Settings {
  Tissue tissue;
  std::int64_t photons = 0;
  std::uint64_t seed = 1;
  Source source = Source::pencil;
  double source_radius = 0;
  std::int64_t radial_cells = 100, depth_cells = 100, angle_cells = 30;
  double radial_step = 0, depth_step = 0;               // cm
  double detector_radius = 0, detector_half_width = 0;  // cm; 0: there is none
  double detector_angle = 90;                           // degrees to the normal
  std::int64_t path_bins = 100;
  double path_step = 1;  // cm
  bool visits = false;   // a map of where detected photons were
  std::int64_t item_photons = 0;
  double photon_events = 0;  // a photon's, on average of a few

  [[nodiscard]] std::int64_t items() const { return (photons + item_photons - 1) / item_photons; }
  [[nodiscard]] Range item_range(std::int64_t item) const;
  // Photons of an item's blocks: all but the last ones have as many.
  [[nodiscard]] std::int64_t block_photons(std::int64_t item) const;
  [[nodiscard]] bool detects() const { return detector_radius > 0; }
};

inline constexpr std::int64_t item_blocks = 64;

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

[[nodiscard]] Model make_model(const Settings& settings);

// Where the parts of an item's numbers are; each is a std::int64_t. Weights are in weight_unit.
struct Layout {
  explicit Layout(const Settings& settings);
  std::int64_t blocks = 0;   // item_blocks times the six of BlockTally
  std::int64_t squares;      // 3
  std::int64_t absorbed;     // [radial_cells + 1][depth_cells + 1]; here, where viewers know that it is
  std::int64_t layers;       // absorbed in each
  std::int64_t reflected;    // [radial_cells + 1][angle_cells]
  std::int64_t transmitted;  // the same
  std::int64_t detector;     // photons, weight, squared weight
  std::int64_t paths;        // weight * path in each layer, path_unit
  std::int64_t histogram;    // path_bins + 1 weights
  std::int64_t visits;       // [2 radial_cells][depth_cells], if wanted
  std::int64_t size;
};

}  // namespace gleaner::photons
