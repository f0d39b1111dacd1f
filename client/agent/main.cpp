// gleaner-agent: sees what a system service cannot, and tells it.
#include "client/agent/program.h"
#include "shared/terminal/run.h"

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-agent", [&] { return gleaner::agent::agent_main(argc, argv); });
}
