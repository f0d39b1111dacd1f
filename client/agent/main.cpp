// gleaner-agent: sees what a system service cannot, and tells it.
#include "client/agent/program.h"

int main(int argc, char** argv) {
  return gleaner::agent::agent_main(argc, argv);
}
