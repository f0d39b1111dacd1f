// gleaner: the owner's command line to a running client.
#include "client/program/control_program.h"
#include "shared/terminal/run.h"

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner", [&] { return gleaner::program::control_main(argc, argv); });
}
