// What `gleaner-sim run` prints: one line a strategy for people, every run for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/simulator/scenario/experiment.h"

namespace gleaner::simulator {

// Mean, 95 % interval and worst seed of each variant, as a table.
void print_table(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes);
// The same and every run, as JSON.
void print_json(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes);
// Every run, a line each, with a header.
[[nodiscard]] std::string csv_of(const Experiment& experiment, const std::vector<Outcome>& outcomes);

}  // namespace gleaner::simulator
