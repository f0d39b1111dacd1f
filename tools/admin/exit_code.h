// The program's exit codes: fixed, for scripts. Pure.
#pragma once

#include "shared/base/result.h"

namespace gleaner::admin {

enum class ExitCode : int {
  ok = 0,
  failed = 1,       // it did not work, or the problem failed or was cancelled
  usage = 2,        // the command line is wrong
  unreachable = 3,  // no answer, or the server is busy: try later
  not_found = 4,    // no such problem, application, host or file
  refused = 5,      // the token is refused, the server is not the one expected, or a signature does not hold
};

[[nodiscard]] ExitCode exit_code_for(ErrorKind kind);

}  // namespace gleaner::admin
