// gleaner-sim: see commands.h.
#include <algorithm>
#include <iostream>

#include "shared/terminal/run.h"
#include "shared/terminal/streams.h"
#include "tools/simulator/command/commands.h"

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-sim", [&] {
    gleaner::simulator::Console console{std::cout, std::cerr, gleaner::terminal::is_terminal(stderr)};
    return gleaner::simulator::run_program(console,
                                           std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  });
}
