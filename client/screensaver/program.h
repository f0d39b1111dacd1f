// gleaner-screensaver's main.
#pragma once

namespace gleaner::screensaver {

int screensaver_main(int argc, char** argv);

}  // namespace gleaner::screensaver
