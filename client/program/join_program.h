// `gleaner-client join`, which tells a client that runs with the state to join, and `leave`, while none may
// run.
#pragma once

#include <string>

#include "client/state/state_directory.h"

namespace gleaner::program {

struct JoinCommand {
  state::StateDirectory state;
  std::string code;
  std::string name;          // of this computer; empty: its own
  bool named_state = false;  // the directory is not the usual one
};

struct LeaveCommand {
  state::StateDirectory state;
  std::string project;  // empty: the only one
  bool all = false;
};

// Return the exit status.
[[nodiscard]] int run_join(const JoinCommand& command);
[[nodiscard]] int run_leave(const LeaveCommand& command);

}  // namespace gleaner::program
