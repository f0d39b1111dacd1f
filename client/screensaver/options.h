// The command line, as screensaver hacks are called: one dash or two, and unknown options are ignored,
// because xscreensaver hands over what its user configured for others. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gleaner::screensaver {

enum class Place { window, full_screen, foreign, root, file };

struct Options {
  Place place = Place::window;
  std::optional<unsigned long> foreign_window;  // foreign: an X11 window that somebody made for us
  std::string view;                             // the client's file; empty: where clients put it
  std::string picture;                          // file: a PNG to write
  int width = 1280, height = 720;
  int frames_per_second = 30;
  bool help = false, version = false;
  std::string mistake;  // what is wrong with the command line; empty: nothing
};

// `screensaver_window`: $XSCREENSAVER_WINDOW; empty: not set.
[[nodiscard]] Options parse_options(const std::vector<std::string>& arguments,
                                    const std::string& screensaver_window);
// The number of an X11 window, decimal or 0x...; nothing if it is neither, or 0.
[[nodiscard]] std::optional<unsigned long> parse_window(const std::string& text);
[[nodiscard]] std::string help_text();

}  // namespace gleaner::screensaver
