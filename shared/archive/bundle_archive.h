// Bundles (shared/bundle) to archives and back. Thread-safe. Errors name the file and say what to do.
#pragma once

#include <string>

#include "shared/base/result.h"
#include "shared/bundle/bundle.h"
#include "shared/io/files.h"

namespace gleaner::archives {

// A complete bundle directory, packed.
[[nodiscard]] Result<bundle::PackedBundle> pack_bundle(const io::Path& directory);

// A bundle::Unpack: `file` is read once, and what was read must have the digest before any of it is looked
// at.
[[nodiscard]] Status unpack_bundle(const io::Path& file, const std::string& digest, const io::Path& into);

}  // namespace gleaner::archives
