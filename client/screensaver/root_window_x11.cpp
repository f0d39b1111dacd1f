#include <X11/Xlib.h>

#include "client/screensaver/root_window.h"

namespace gleaner::screensaver {

std::optional<unsigned long> root_window() {
  Display* const display = ::XOpenDisplay(nullptr);
  if (display == nullptr) return std::nullopt;
  const unsigned long root = ::XDefaultRootWindow(display);
  ::XCloseDisplay(display);
  return root;
}

}  // namespace gleaner::screensaver
