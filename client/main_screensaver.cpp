// gleaner-screensaver: shows what the client on this computer computes.
#include "client/screensaver/program.h"

int main(int argc, char** argv) {
  return gleaner::screensaver::screensaver_main(argc, argv);
}
