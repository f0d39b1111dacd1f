// What `gleaner-sim run` prints: one line a strategy for people, every run for programs; and what other
// commands over seeds share with it.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/simulator/command/commands.h"
#include "tools/simulator/scenario/experiment.h"

namespace gleaner::simulator {

// Mean, 95 % interval and worst seed of each variant, as a table.
void print_table(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes);
// The same and every run, as JSON.
void print_json(std::ostream& out, const Experiment& experiment, const std::vector<Outcome>& outcomes);
// Every run, a line each, with a header.
[[nodiscard]] std::string csv_of(const Experiment& experiment, const std::vector<Outcome>& outcomes);

// "7", or "201-220".
struct Seeds {
  std::uint64_t first = 1, last = 1;
};
[[nodiscard]] Result<Seeds> parse_seeds(const std::string& text);
// A scenario with relays, with each seed. Errors: make_relay_world's.
[[nodiscard]] Result<int> run_relays(Console& console, const Scenario& scenario, Seeds seeds, int threads,
                                     std::int64_t check_every, bool as_json);
// A bar on a terminal, or nothing.
[[nodiscard]] std::function<void(std::size_t)> progress_on(Console& console, std::size_t count);

}  // namespace gleaner::simulator
