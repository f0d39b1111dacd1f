#include "client/agent/program.h"

#include <signal.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/agent/session_watch.h"
#include "shared/base/version.h"
#include "shared/terminal/print.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"

namespace gleaner::agent {
namespace {

constexpr int exit_ok = 0;
constexpr int exit_problem = 1;
constexpr int exit_usage = 2;

struct Options {
  std::vector<std::string> sockets;
  std::string display;
  double granularity = to_seconds(default_granularity);
  bool show = false;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string session_name() {
  if (const std::string named = variable("XDG_SESSION_ID"); !named.empty()) return named;
  char* text = nullptr;
  if (::sd_pid_get_session(0, &text) < 0) return {};
  const std::string session = text;
  std::free(text);
  return session;
}

SourceSettings settings_of(const Options& options) {
  SourceSettings settings;
  settings.granularity = from_seconds(options.granularity);
  settings.x_display = options.display.empty() ? variable("DISPLAY") : options.display;
  if (options.display.empty()) settings.wayland_display = variable("WAYLAND_DISPLAY");
  settings.bus = variable("DBUS_SESSION_BUS_ADDRESS");
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  if (settings.bus.empty() && !runtime.empty() && ::access((runtime + "/bus").c_str(), F_OK) == 0)
    settings.bus = "unix:path=" + runtime + "/bus";
  return settings;
}

int watch(const Options& options) {
  std::vector<std::filesystem::path> sockets(options.sockets.begin(), options.sockets.end());
  if (sockets.empty()) sockets = usual_sockets();
  SessionWatch session(settings_of(options), session_name(), Uplink(std::move(sockets)), system_clock());
  for (const std::string& sentence : session.missing())
    terminal::print(stderr, "gleaner-agent: {}\n", sentence);
  if (session.empty()) {
    terminal::print(stderr,
                    "gleaner-agent: there is no session to watch: neither DISPLAY, WAYLAND_DISPLAY nor "
                    "DBUS_SESSION_BUS_ADDRESS leads anywhere\n");
    return exit_problem;
  }
  if (options.show)
    session.on_report = [](const std::string& line) {
      terminal::print("{}\n", line);
      std::fflush(stdout);
    };
  while (session.turn()) (void)io::wait_any(session.waitables(), session.wait_time());
  return exit_ok;
}

}  // namespace

int agent_main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "gleaner-agent: reports to the Gleaner client on this computer whether somebody uses this session",
      "gleaner-agent"};
  usage::set_help_form(app);
  app.set_version_flag("--version", std::string("gleaner-agent ") + version_text);
  app.footer(
      "It watches the session that it is started in, reports only that somebody is there or since "
      "when\nnobody is, and ends with the session. Exit status: 0 the session is over, 1 there is none, 2 "
      "wrong usage.");
  app.add_option("--socket", options.sockets, "Socket of a client (repeatable; default: the usual ones)")
      ->type_name("FILE");
  app.add_option("--display", options.display, "Watch this X server instead of the session's own");
  app.add_option("--idle-seconds", options.granularity,
                 "Report the session as idle after this many seconds without input")
      ->check(CLI::Range(0.05, 3600.0));
  app.add_flag("--show", options.show, "Print the reports, too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner-agent: {}\n", usage::explain(app, mistake));
    return exit_usage;
  }
  ::signal(SIGPIPE, SIG_IGN);
  return watch(options);
}

}  // namespace gleaner::agent
