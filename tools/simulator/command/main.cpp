// gleaner-sim: see commands.h.
#include <unistd.h>

#include <iostream>

#include "tools/simulator/command/commands.h"

int main(int argc, char** argv) {
  gleaner::simulator::Console console{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  return gleaner::simulator::run_program(console, std::vector<std::string>(argv + 1, argv + argc));
}
