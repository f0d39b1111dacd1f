// gleaner-admin: see program.h.
#include <csignal>
#include <string>
#include <vector>

#include "tools/admin/program.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a kernel or a pager that goes away is an error, not our end
  gleaner::admin::Outside outside = gleaner::admin::real_outside();
  return gleaner::admin::run_program(outside, std::vector<std::string>(argv + 1, argv + argc));
}
