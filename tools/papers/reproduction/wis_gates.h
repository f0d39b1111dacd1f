// Acceptance criteria A1-A5 of server/policy/sizing/SIZING.md, on a run of the experiment. Pure.
#pragma once

#include <string>

#include "tools/papers/reproduction/wis_machines.h"

namespace gleaner::simulator {

struct Gate {
  bool holds = true;
  std::string what;  // the criterion with its numbers
  [[nodiscard]] std::string said() const { return (holds ? "holds: " : "FAILS: ") + what; }
};

[[nodiscard]] Gate gate_a1(const WisExperiment& experiment);  // RTS and static requests, exactly
[[nodiscard]] Gate gate_a2(const WisExperiment& experiment);  // WIS: increasing, within 25 %
[[nodiscard]] Gate gate_a3(const WisExperiment& experiment);  // MIS: the same; WIS asks less
[[nodiscard]] Gate gate_a4(const WisExperiment& experiment);  // speed-ups
[[nodiscard]] Gate gate_a5(const WisExperiment& experiment);  // idle cost

// Of speed-ups, over all cells: strategy `over` (its index) by strategy `under`.
[[nodiscard]] double mean_ratio(const WisExperiment& experiment, std::size_t over, std::size_t under);

// |log(ours / published)| of the speed-ups, over all 80 cells.
[[nodiscard]] double mean_log_error(const WisExperiment& experiment);

}  // namespace gleaner::simulator
