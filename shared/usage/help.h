// How programs show --help: `--port PORT`, and all else about an option in its text. One thread.
#pragma once

#include <CLI/CLI.hpp>

namespace gleaner::usage {

// Of a new program, before its sub-commands are added: they take the form over.
void set_help_form(CLI::App& program);

}  // namespace gleaner::usage
