#include "client/screensaver/options.h"

#include <algorithm>
#include <cstdlib>

namespace gleaner::screensaver {
namespace {

constexpr long side_min = 64;
constexpr long side_max = 16384;
constexpr long frames_max = 60;

std::optional<long> number_in(const std::string& text, long low, long high) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high) return std::nullopt;
  return value;
}

bool parse_size(const std::string& text, Options& options) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) return false;
  const auto width = number_in(text.substr(0, cross), side_min, side_max);
  const auto height = number_in(text.substr(cross + 1), side_min, side_max);
  if (!width || !height) return false;
  options.width = static_cast<int>(*width);
  options.height = static_cast<int>(*height);
  return true;
}

// False: there is no such option.
bool take_value(const std::string& name, const std::string& value, Options& options) {
  const auto expect = [&](bool good, const char* what) {
    if (!good) options.mistake = "--" + name + " wants " + what + ", not \"" + value + "\"";
  };
  if (name == "view") {
    options.view = value;
  } else if (name == "picture") {
    options.picture = value;
    options.place = Place::file;
  } else if (name == "size") {
    expect(parse_size(value, options), "a width and a height like 1280x720");
  } else if (name == "fps") {
    const auto frames = number_in(value, 1, frames_max);
    expect(frames.has_value(), "1 to 60 frames a second");
    if (frames) options.frames_per_second = static_cast<int>(*frames);
  } else if (name == "window-id") {
    options.foreign_window = parse_window(value);
    expect(options.foreign_window.has_value(), "an X11 window's number");
    options.place = Place::foreign;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<unsigned long> parse_window(const std::string& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text.c_str(), &end, 0);
  if (*end != '\0' || number == 0 || number > 0xffffffffUL) return std::nullopt;
  return number;
}

Options parse_options(const std::vector<std::string>& arguments, const std::string& screensaver_window) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t dashes = arguments[i].find_first_not_of('-');
    if (dashes == 0 || dashes == std::string::npos || dashes > 2) continue;
    const std::string name = arguments[i].substr(dashes);
    if (name == "help" || name == "h") options.help = true;
    if (name == "version") options.version = true;
    if (name == "window") options.place = Place::window;
    if (name == "fullscreen") options.place = Place::full_screen;
    if (name == "root") options.place = Place::root;
    if (i + 1 < arguments.size()) {
      if (take_value(name, arguments[i + 1], options)) ++i;
    } else {
      Options ignored;
      if (take_value(name, "", ignored)) options.mistake = "--" + name + " wants a value";
    }
  }
  // Under xscreensaver the root window is the one that it made for us.
  if (options.place == Place::root)
    if (const auto window = parse_window(screensaver_window)) {
      options.place = Place::foreign;
      options.foreign_window = window;
    }
  return options;
}

std::string help_text() {
  return "gleaner-screensaver: shows what this computer computes\n"
         "Usage: gleaner-screensaver [OPTIONS]\n\n"
         "Options:\n"
         "  -h,--help            Print this help message and exit\n"
         "  --version            Print the version\n"
         "  --window             In a window of its own (the default); Escape or q closes it\n"
         "  --fullscreen         On the whole screen, until a key, a button or the mouse\n"
         "  --root               In $XSCREENSAVER_WINDOW, or else on the root window\n"
         "  --window-id NUMBER   In an X11 window that another program made\n"
         "  --size WIDTHxHEIGHT  Of the window or the picture (1280x720)\n"
         "  --fps NUMBER         At most so many frames a second, 1 to 60 (30)\n"
         "  --view FILE          What the client publishes (default: /run/gleaner-client/view, or else\n"
         "                       \"view\" in the state directory of this user's client)\n"
         "  --picture FILE.png   Draw one picture into a file instead; needs no display\n\n"
         "One dash will do, and unknown options are ignored, as xscreensaver wants it.\n"
         "Exit status: 0 done, 1 a problem (on standard error), 2 wrong usage.\n";
}

}  // namespace gleaner::screensaver
