// gleaner-admin as a function: command line in, exit code out.
#pragma once

#include <string>
#include <vector>

#include "tools/admin/outside.h"

namespace gleaner::admin {

// `arguments` without the program's name. Never throws.
[[nodiscard]] int run_program(Outside& outside, std::vector<std::string> arguments);

}  // namespace gleaner::admin
