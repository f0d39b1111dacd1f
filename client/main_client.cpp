// gleaner-client: the daemon on a donated computer.
#include "client/program/client_program.h"

int main(int argc, char** argv) {
  return gleaner::program::client_main(argc, argv);
}
