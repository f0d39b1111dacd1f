// The standard streams as the system has them. Platform file: streams_linux.cpp.
#pragma once

#include <cstdio>

namespace gleaner::terminal {

[[nodiscard]] bool is_terminal(std::FILE* stream);

// Of a pipe, socket or terminal that nobody reads any more.
[[nodiscard]] bool reader_is_gone(std::FILE* stream);

// Standard input, output and error that whoever started this program has closed are opened on nothing: else
// the next file that is opened, such as a project's store, would take their place, and what is printed would
// go into it.
void open_missing_streams();

}  // namespace gleaner::terminal
