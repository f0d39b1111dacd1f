// What a kernel or a wrapped program lacked when it failed, by its last words, and what its author does about
// it. Such words are a guess's ground, no proof: each remedy names what was seen. Looks whether files are on
// this computer; starts nothing. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "tools/local/local_bundle.h"

namespace gleaner::local {

// A module, a library or a file of this computer that the words name: the file must be outside the bundle.
// Empty: they name none.
[[nodiscard]] std::string remedy_for(const LocalBundle& bundle, std::string_view words);

// How a library is taken along.
[[nodiscard]] std::string library_remedy(const LocalBundle& bundle);

}  // namespace gleaner::local
