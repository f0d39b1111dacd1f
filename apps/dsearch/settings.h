// The parameters of a search.
#pragma once

#include <cstdint>
#include <string>

#include "apps/dsearch/hits.h"
#include "apps/dsearch/scheme.h"
#include "apps/kit/problem.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

// Where lambda and K of local alignments' statistics come from (statistics.h).
enum class Source { automatic, fit, table, none };

struct Settings {
  Mode mode = Mode::local;
  std::string matrix = "blosum62";
  Scheme scheme;
  Admission admission;     // top K, least score
  double evalue_max = 10;  // hits above it are left out, where there are statistics
  Source statistics = Source::automatic;
  std::int64_t chunk_residues = 0;  // of the database in one item; 0: by its size
  std::int64_t item_cells = 0;      // about what an item compares
};

inline constexpr std::int64_t chunk_residues_max = 16 << 20;

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

}  // namespace gleaner::dsearch
