// The command line of gleaner-loadgen: `enrol` and `run`. Exit codes, for scripts: 0 done; 1 failed; 2 wrong
// usage; 3 the server could not be reached, or answered nothing; 5 an answer was not to be trusted, or
// contradicts what was sent.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace gleaner::loadgen {

struct Console {
  std::ostream& out;
  std::ostream& error;
};

[[nodiscard]] int run_program(Console& console, std::vector<std::string> arguments);

}  // namespace gleaner::loadgen
