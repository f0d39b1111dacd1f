// A program that runs to its end while the caller waits, and where such helpers are found. Thread-safe.
// Platform file: helpers_linux.cpp.
#pragma once

#include <string>
#include <string_view>

#include "shared/io/process.h"

namespace gleaner::io {

struct Ended {
  ProcessExit exit;
  std::string errors;  // the tail of what it wrote to standard error
};

// `input` is its standard input; what it writes to standard output is dropped. Errors: of the start only.
[[nodiscard]] Result<Ended> run_program(ProcessRunner& processes, const ProcessSpec& spec,
                                        std::string_view input);

// Where a program is that this one runs for itself: beside it, or where `package` puts its helpers; empty:
// nowhere.
[[nodiscard]] Path find_helper(const std::string& name, const std::string& package);

}  // namespace gleaner::io
