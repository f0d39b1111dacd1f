// Where two results of an item differ, for the author of its application. Pure.
#pragma once

#include <string>

#include "apps/wrap/command.h"
#include "shared/base/encoding.h"
#include "tools/local/local_bundle.h"

namespace gleaner::local {

struct Difference {
  std::string where;   // "from byte 17 of its output on: \"12:00:01\" and \"12:00:02\""
  std::string advice;  // how a wrapped program's manifest ignores it; empty: nothing is known
};
// REQUIRES: they differ.
[[nodiscard]] Difference difference_of(const LocalBundle& bundle, const Bytes& one, const Bytes& other);

// Of a bundle that wraps a program.
[[nodiscard]] Result<wrap::Command> command_of(const LocalBundle& bundle);

}  // namespace gleaner::local
