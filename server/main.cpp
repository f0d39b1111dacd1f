#include "server/program.h"

int main(int argc, char** argv) {
  return gleaner::server::run_program(argc, argv);
}
