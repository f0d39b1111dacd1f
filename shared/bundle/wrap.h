// Bundles that wrap a command-line program have a manifest with a [wrap] section and the program, nothing
// else. Before they are run or signed they are completed: a copy gets Gleaner's own kernel and manager
// (apps/wrap), the command in a file, and a manifest that names them, so that the signature covers all that
// is executed. Thread-safe. Errors: invalid, not_found (the programs are not installed), io.
#pragma once

#include <string>

#include "shared/base/result.h"
#include "shared/bundle/manifest.h"
#include "shared/io/files.h"

namespace gleaner::bundle {

// True if the directory's manifest has a [wrap] section. Errors: those of reading the manifest.
[[nodiscard]] Result<bool> is_wrapped(const io::Path& directory);

// Is it the manifest of a completed one?
[[nodiscard]] bool is_completed(const Manifest& manifest);

// The program by which its manager compares results; empty: there is none. It is not in the manifest, where
// clients that came before it would refuse the key.
[[nodiscard]] io::Path compare_program(const io::Path& directory);

// Makes the directory `into`, which must not exist. `programs` has wrap-kernel and wrap-manager for
// `platform`.
[[nodiscard]] Status complete_wrapped(const io::Path& directory, const io::Path& programs,
                                      const std::string& platform, const io::Path& into);

}  // namespace gleaner::bundle
