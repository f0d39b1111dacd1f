#include "server/program.h"
#include "shared/terminal/run.h"
#include "tests/faults/disk.h"
#include "tests/faults/failpoints.h"

int main(int argc, char** argv) {
  gleaner::faults::start_disk();
  gleaner::faults::set_failpoints();
  return gleaner::terminal::run("gleaner-server", [&] { return gleaner::server::run_program(argc, argv); });
}
