// The commands of gleaner-sim, one a file (sizes.cpp, map.cpp ...): each declares its options and sets
// `chosen` to what is to be done when the command line names it. Exit codes: 0 done, 1 failed, 2 wrong usage.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::simulator {

// Where a command prints: results on `out`, progress and messages on `error`.
struct Console {
  std::ostream& out;
  std::ostream& error;
  bool error_is_terminal = false;  // progress bars only there
};

// What the command line asked for. The answer is the exit code; an error becomes 1 and its message.
using Action = std::function<Result<int>(Console& console)>;

// Declares that `command` does `action` with the options that `options` (a shared struct) will hold.
template <typename Options>
void on_parse(CLI::App* command, Action& chosen, std::shared_ptr<Options> options,
              Result<int> (*action)(Console&, const Options&)) {
  command->callback([&chosen, options, action] {
    chosen = [options, action](Console& console) { return action(console, *options); };
  });
}

void add_reproduce_command(CLI::App& program, Action& chosen);   // reproduce.cpp
void add_cheats_command(CLI::App& program, Action& chosen);      // cheats.cpp
void add_map_command(CLI::App& program, Action& chosen);         // map.cpp
void add_benchmark_command(CLI::App& program, Action& chosen);   // benchmark.cpp
void add_replay_command(CLI::App& program, Action& chosen);      // replay.cpp
void add_run_command(CLI::App& program, Action& chosen);         // run.cpp
void add_sizes_command(CLI::App& program, Action& chosen);       // sizes.cpp
void add_strategies_command(CLI::App& program, Action& chosen);  // strategies.cpp

// That this process ever had.
[[nodiscard]] double peak_megabytes();

// Parses and runs.
[[nodiscard]] int run_program(Console& console, std::vector<std::string> arguments);

}  // namespace gleaner::simulator
