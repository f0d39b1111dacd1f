// gleaner-loadgen: see program.h.
#include <algorithm>
#include <csignal>
#include <iostream>

#include "shared/terminal/run.h"
#include "tools/loadgen/program.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that breaks is counted, and no end
  return gleaner::terminal::run("gleaner-loadgen", [&] {
    gleaner::loadgen::Console console{std::cout, std::cerr};
    return gleaner::loadgen::run_program(console,
                                         std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  });
}
