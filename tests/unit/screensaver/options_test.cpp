#include "client/screensaver/options.h"

#include "tests/catch.h"

namespace gleaner::screensaver {
namespace {

TEST_CASE("Hacks are called with one dash or two, and with what is meant for others") {
  for (const char* root : {"-root", "--root"}) {
    const Options options = parse_options({root, "-delay", "30", "--colours", "x"}, "0x800008");
    CHECK(options.mistake.empty());
    CHECK(options.place == Place::foreign);
    CHECK(options.foreign_window == 0x800008UL);
  }
  CHECK(parse_options({"-root"}, "").place == Place::root);
  CHECK(parse_options({"-root"}, "nonsense").place == Place::root);
  CHECK(parse_options({"-window-id", "0x1A"}, "").foreign_window == 26UL);
  CHECK(parse_options({"--fullscreen"}, "0x5").place == Place::full_screen);
  CHECK(parse_options({}, "0x5").place == Place::window);
}

TEST_CASE("Values are read or refused") {
  const Options options =
      parse_options({"--size", "640x360", "--fps", "12", "--view", "/x", "--picture", "/y"}, "");
  CHECK((options.width == 640 && options.height == 360 && options.frames_per_second == 12));
  CHECK((options.view == "/x" && options.picture == "/y" && options.place == Place::file));
  for (const auto& bad : {std::vector<std::string>{"--size", "640"},
                          {"--size", "1x1"},
                          {"--fps", "0"},
                          {"--fps", "1e9"},
                          {"--window-id", "zero"},
                          {"--window-id", "0"},
                          {"--view"}})
    CHECK_FALSE(parse_options(bad, "").mistake.empty());
}

TEST_CASE("Every option is in the help text") {
  for (const char* option : {"--window", "--fullscreen", "--root", "--window-id", "--size", "--fps", "--view",
                             "--picture", "--version", "--help"})
    CHECK(help_text().find(option) != std::string::npos);
}

}  // namespace
}  // namespace gleaner::screensaver
