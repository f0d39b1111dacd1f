#include "client/screensaver/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "client/screensaver/options.h"
#include "client/screensaver/scene.h"
#include "client/screensaver/view_source.h"
#include "client/screensaver/window.h"
#include "shared/base/version.h"
#include "shared/terminal/print.h"

namespace gleaner::screensaver {
namespace {

constexpr Duration look_interval = std::chrono::milliseconds{250};
constexpr Duration absent_interval = std::chrono::seconds{1};  // no client: it may start
constexpr int exit_ok = 0;
constexpr int exit_problem = 1;
constexpr int exit_usage = 2;

int fail(const std::string& message) {
  terminal::print(stderr, "gleaner-screensaver: {}\n", message);
  return exit_problem;
}

int draw_file(const Options& options, ViewSource& source) {
  const SteadyTime now = system_clock().steady();
  Scene scene(options.width, options.height, now);
  if (source.look()) scene.show(source.view(), source.pixels(), now);
  (void)scene.draw(now);
  if (!scene.write_png(options.picture)) return fail("cannot write " + options.picture);
  return exit_ok;
}

int run_window(const Options& options, ViewSource& source) {
  Clock& clock = system_clock();
  auto opened = Window::open(options);
  if (!opened.ok()) return fail(opened.error().message);
  Window& window = **opened;
  const Duration frame{1'000'000 / options.frames_per_second};
  auto scene = std::make_unique<Scene>(window.width(), window.height(), clock.steady());
  SteadyTime look_at = clock.steady();
  while (true) {
    SteadyTime now = clock.steady();
    if (now >= look_at) {
      if (source.look()) scene->show(source.view(), source.pixels(), now);
      look_at = now + (source.view() ? look_interval : absent_interval);
    }
    const auto changed = scene->draw(now);
    if (!changed.empty())
      if (const Status put = window.put(*scene, changed); !put.ok()) return fail(put.error().message);
    const SteadyTime after = clock.steady();
    const SteadyTime next = std::min(look_at, std::max(scene->quiet_until(now), now + frame));
    const Happened happened = window.wait(std::max<Duration>(next - after, Duration{0}));
    if (happened.quit) return exit_ok;
    if (happened.resized) {
      now = clock.steady();
      scene = std::make_unique<Scene>(window.width(), window.height(), now);
      scene->show(source.view(), source.pixels(), now);
    }
  }
}

}  // namespace

int screensaver_main(int argc, char** argv) {
  const char* const window = std::getenv("XSCREENSAVER_WINDOW");
  ::signal(SIGPIPE, SIG_IGN);  // what libraries say on standard error may have no reader
  const Options options = parse_options({argv + (argc > 0), argv + argc}, window == nullptr ? "" : window);
  if (options.help || options.version) {
    terminal::print("{}", options.help ? help_text() : fmt::format("gleaner-screensaver {}\n", version_text));
    return exit_ok;
  }
  if (!options.mistake.empty()) {
    terminal::print(stderr, "gleaner-screensaver: {}\n", options.mistake);
    return exit_usage;
  }
  ViewSource source(options.view.empty() ? usual_views() : std::vector<std::string>{options.view});
  return options.place == Place::file ? draw_file(options, source) : run_window(options, source);
}

}  // namespace gleaner::screensaver
