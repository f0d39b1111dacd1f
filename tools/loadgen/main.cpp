// gleaner-loadgen: see program.h.
#include <csignal>
#include <iostream>

#include "tools/loadgen/program.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that breaks is counted, and no end
  gleaner::loadgen::Console console{std::cout, std::cerr};
  return gleaner::loadgen::run_program(console, std::vector<std::string>(argv + 1, argv + argc));
}
