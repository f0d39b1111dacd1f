// gleaner-screensaver: shows what the client on this computer computes.
#include "client/screensaver/program.h"
#include "shared/terminal/run.h"

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-screensaver",
                                [&] { return gleaner::screensaver::screensaver_main(argc, argv); });
}
