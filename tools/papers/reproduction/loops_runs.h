// The runs behind the section "loops": rows of the Mandelbrot set on the eight nodes of Yang, Shih and
// Tseng's cluster under three assumptions about the nodes' real speed
// (server/policy/sizing/SIZING.md).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::simulator {

enum class LoopTruth { hpl, clock, latency };
inline constexpr std::array loop_truths{LoopTruth::hpl, LoopTruth::clock, LoopTruth::latency};
[[nodiscard]] const char* name_of(LoopTruth truth);

struct LoopScheme {
  std::string name;
  std::string title;
  std::string strategy;  // of the sizing library
};
[[nodiscard]] std::span<const LoopScheme> loop_schemes();
// REQUIRES: a name of loop_schemes().
[[nodiscard]] const LoopScheme* find_loop_scheme(std::string_view name);

// Makespan over the ideal time, all work at the sum of all speeds. Errors: invalid.
[[nodiscard]] Result<double> loop_ratio(int rows, LoopTruth truth, const LoopScheme& scheme);

}  // namespace gleaner::simulator
