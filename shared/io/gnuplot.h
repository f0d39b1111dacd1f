// Plots by gnuplot, which is not needed for anything else and may be missing. Blocks until it has ended.
#pragma once

#include <optional>
#include <string>

#include "shared/io/files.h"
#include "shared/io/process.h"

namespace gleaner::io {

// Where it is installed; nothing if it is not.
[[nodiscard]] std::optional<Path> find_gnuplot(const Files& files);

// Runs `script` with `directory` as its working directory. The output does not depend on the locale. Errors:
// not_found with what to install; io with gnuplot's last words.
[[nodiscard]] Status run_gnuplot(const Files& files, ProcessRunner& processes, const Path& directory,
                                 const std::string& script);

// A text in gnuplot's double quotes.
[[nodiscard]] std::string gnuplot_text(std::string_view text);

}  // namespace gleaner::io
