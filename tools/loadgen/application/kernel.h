// The kernel of load tests, for real clients among the simulated hosts: 64 bytes that follow from the item's
// index.
#pragma once

#include "apps/kit/kernel.h"

namespace gleaner::load {

[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::load
