// gleaner-client: the daemon on a donated computer.
#include "client/program/client_program.h"
#include "shared/terminal/run.h"

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-client", [&] { return gleaner::program::client_main(argc, argv); });
}
