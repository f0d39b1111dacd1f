// Programs that the client runs for itself, installed where users do not call them. Thread-safe. Platform
// file: helpers_linux.cpp.
#pragma once

#include <string>

#include "shared/bundle/bundle.h"
#include "shared/io/process.h"

namespace gleaner::platform {

// Beside this program, or where packages put helpers; empty: nowhere.
[[nodiscard]] io::Path find_helper(const std::string& name);

// Unpacks by `program` (client/unpack), in a process of lowest priority; `processes` must outlive it.
// not_found without the program.
[[nodiscard]] Result<bundle::Unpack> make_unpack(io::ProcessRunner& processes,
                                                 const io::Path& program = find_helper("gleaner-unpack"));

}  // namespace gleaner::platform
