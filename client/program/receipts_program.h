// `gleaner receipts`: what the servers acknowledged, each checked against its project's keys. Reads the state
// directory; the client need not run.
#pragma once

#include <string>

#include "client/state/state_directory.h"

namespace gleaner::program {

struct ReceiptsCommand {
  state::StateDirectory state;
  bool json = false;
  bool all = false;     // else the newest only
  std::string project;  // of this one only; empty: of all
};

// Exit status: 1 also if one is not genuine.
int run_receipts(const ReceiptsCommand& command);

}  // namespace gleaner::program
