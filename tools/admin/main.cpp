// gleaner-admin: see program.h.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "shared/terminal/run.h"
#include "tools/admin/program.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a kernel or a pager that goes away is an error, not our end
  return gleaner::terminal::run("gleaner-admin", [&] {
    gleaner::admin::Outside outside = gleaner::admin::real_outside();
    return gleaner::admin::run_program(outside,
                                       std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  });
}
