// A run of the grid that must succeed.
#pragma once

#include <utility>

#include "tests/catch.h"
#include "tools/simulator/grid.h"

namespace gleaner::simulator {

inline GridRun run(const GridInstance& instance) {
  auto result = run_grid(instance);
  REQUIRE(result.ok());
  return std::move(result).value();
}

}  // namespace gleaner::simulator
