// The kernel of a wrapped program: runs it once an item, in the working directory, where it leaves its files.
// It is ended when nobody wants its item any more. A program that ends with another status than 0 is an error
// where items are files; where they are rows, the row has failed, with the program's last words.
#pragma once

#include <memory>

#include "apps/kit/kernel.h"
#include "apps/wrap/command.h"

namespace gleaner::wrap {

[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const Command& command,
                                                               const kit::Problem& problem);

}  // namespace gleaner::wrap
