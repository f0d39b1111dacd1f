// `gleaner-client sandbox --attack`: lets a hostile kernel (client/attack) loose in this computer's sandbox,
// one attack after the other, watched as kernels are, and says what holds.
#pragma once

#include "client/platform/sandbox.h"

namespace gleaner::program {

struct AttackCommand {
  platform::SandboxSettings sandbox;  // its state directory is there
  bool json = false;
};

// Prints a table, or JSON; takes about a minute. Returns the exit status: a problem if anything did not hold.
[[nodiscard]] int run_attacks(const AttackCommand& command);

}  // namespace gleaner::program
