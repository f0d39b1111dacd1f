// What somebody types to install what is missing, on this distribution of Linux (os-release(5)). Names of
// packages differ between distributions; those that are not known are taken to be the program's own.
// Stateless and thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "shared/io/files.h"

namespace gleaner::io {

// "apt install r-base-core" for the program Rscript. `root`: of the system that is looked at.
[[nodiscard]] std::string install_command(const std::string& name, const Path& root = "/");
// "apt install python3-numpy" for the module numpy, or one in it.
[[nodiscard]] std::string install_python_module(std::string_view module, const Path& root = "/");

}  // namespace gleaner::io
