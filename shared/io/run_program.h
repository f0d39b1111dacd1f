// A program that runs to its end while the caller waits: for helpers that do one thing. Thread-safe.
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

}  // namespace gleaner::io
