// The root window. Platform file: root_window_x11.cpp.
#pragma once

#include <optional>

namespace gleaner::screensaver {

// That of $DISPLAY; none if there is no X11 display.
[[nodiscard]] std::optional<unsigned long> root_window();

}  // namespace gleaner::screensaver
