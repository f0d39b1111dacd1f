// What a program says of a command line that it cannot carry out: what is wrong, and what to do. One thread.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace gleaner::usage {

// One line without a full stop. Of a sub-command that does not exist it names the nearest that does; where
// one is missing it lists them; where both an unknown word and a missing option are to blame, it tells of the
// word.
[[nodiscard]] std::string explain(const CLI::App& program, const CLI::ParseError& mistake);

}  // namespace gleaner::usage
