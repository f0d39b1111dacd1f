// `gleaner page`: the owner's page in a browser, served by this process for as long as it runs.
#pragma once

#include "client/state/state_directory.h"

namespace gleaner::program {

struct PageCommand {
  state::StateDirectory state;
  io::Path socket;
  int port = 0;         // any
  bool browser = true;  // open one, if there is a display
};

int run_page(const PageCommand& command);

}  // namespace gleaner::program
