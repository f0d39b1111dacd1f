#include "client/program/control_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/engine/state_directory.h"
#include "client/platform/control_socket.h"
#include "client/program/control_text.h"
#include "client/program/exit_status.h"
#include "client/program/preferences_program.h"
#include "client/program/state_lock.h"
#include "client/program/version.h"

namespace gleaner::program {
namespace {

struct ControlOptions {
  std::string state;
  std::string socket;
  std::string duration;
  bool json = false;
};

int converse(const ControlOptions& options, const nlohmann::json& request) {
  const engine::StateDirectory state{options.state.empty() ? default_state_directory()
                                                           : io::Path(options.state)};
  const io::Path socket = options.socket.empty() ? state.socket() : io::Path(options.socket);
  const auto reply = platform::ask_daemon(socket, request.dump());
  if (!reply.ok()) {
    fmt::print(stderr, "gleaner: {}\n", reply.error().message);
    return reply.error().kind == ErrorKind::not_found ? exit_not_running : exit_problem;
  }
  const auto parsed = nlohmann::json::parse(*reply, nullptr, false);
  if (!parsed.is_object()) {
    fmt::print(stderr, "gleaner: the client's answer is not understood; do both have the same version?\n");
    return exit_problem;
  }
  const bool ok = parsed.value("ok", false);
  if (options.json) {
    fmt::print("{}\n", parsed.dump(2));
  } else if (!ok) {
    fmt::print(stderr, "gleaner: {}\n", parsed.value("message", "the client gave no reason"));
  } else {
    fmt::print("{}", reply_text(request["command"].get<std::string>(), parsed,
                                ::isatty(STDOUT_FILENO) == 1 ? Colour::yes : Colour::no));
  }
  return ok ? exit_ok : exit_problem;
}

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "a duration is like 90s, 30m, 1h or 2d, from one second to a year";
}

}  // namespace

int control_main(int argc, char** argv) {
  ControlOptions options;
  CLI::App app{"gleaner: control the client that computes on this computer", "gleaner"};
  app.set_version_flag("--version", std::string("gleaner ") + version);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a problem (on standard error), 2 wrong usage, 3 the client is not running.");
  app.add_option("--state", options.state, "Directory of the client's state");
  app.add_option("--socket", options.socket, "Its control socket, if it is elsewhere");
  app.add_flag("--json", options.json, "Print the answer as JSON");
  const auto add = [&](const std::string& name, const std::string& description) {
    return app.add_subcommand(name, description)->fallthrough();  // options may stand on either side
  };
  add("status", "What is it doing, and how far is it?");
  CLI::App* pause = add("pause", "Stop computing, for a time or until `resume`");
  pause->add_option("duration", options.duration, "For example 90s, 30m, 1h or 2d")->check(check_duration);
  add("resume", "Compute again; take work again after `finish`");
  add("finish", "Complete the units in hand, take no more");
  add("why", "Why is it computing, or why not? In one sentence");
  CLI::App* prefs = add("prefs", "Show, explain and set the preferences");
  prefs->require_subcommand(1);
  CLI::App* show = prefs->add_subcommand("show", "All of them, and where each is from")->fallthrough();
  CLI::App* explain = prefs->add_subcommand("explain", "What they mean")->fallthrough();
  CLI::App* set = prefs->add_subcommand("set", "Change one; it holds at once")->fallthrough();
  PreferencesCommand preferences;
  explain->add_option("key", preferences.key, "One of them; else all");
  set->add_option("key", preferences.key, "Which, as in `gleaner prefs show`")->required();
  set->add_option("value", preferences.value, "To what")->required();
  add("quit", "Deliver what is finished and stop the client");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  if (prefs->parsed()) {
    preferences.state.root = options.state.empty() ? default_state_directory() : io::Path(options.state);
    preferences.verb = show->parsed() ? "show" : set->parsed() ? "set" : "explain";
    preferences.json = options.json;
    return run_preferences(preferences);
  }
  nlohmann::json request = {{"version", 1}, {"command", app.get_subcommands().front()->get_name()}};
  if (!options.duration.empty()) request["seconds"] = parse_duration(options.duration).value();
  return converse(options, request);
}

}  // namespace gleaner::program
