// The kernel of a wrapped program: runs it once an item, in the working directory, with its output in a file
// there. It is ended when nobody wants its item any more.
#pragma once

#include <memory>

#include "apps/kit/kernel.h"
#include "apps/wrap/wrapping.h"

namespace gleaner::wrap {

[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const Command& command,
                                                               const kit::Problem& problem);

}  // namespace gleaner::wrap
