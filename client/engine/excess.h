// What a running kernel takes beyond what its manifest allows. Called about once a second.
#pragma once

#include <string>

#include "client/host/launcher.h"
#include "client/host/machine.h"

namespace gleaner::engine {

// In words; empty: nothing. `tree`: its processes; `use`: what they use.
[[nodiscard]] std::string excess(const host::KernelLaunch& launch, const io::TreeUse& use,
                                 io::TreeHandle tree, const host::Machine& machine,
                                 const host::Launcher& launcher);

}  // namespace gleaner::engine
