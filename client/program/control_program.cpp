#include "client/program/control_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/platform/control_socket.h"
#include "client/platform/owner.h"
#include "client/program/control_text.h"
#include "client/program/exit_status.h"
#include "client/program/page_program.h"
#include "client/program/preferences_program.h"
#include "client/program/projects_program.h"
#include "client/program/receipts_program.h"
#include "client/program/state_lock.h"
#include "client/program/top_program.h"
#include "client/program/version.h"
#include "client/state/state_directory.h"

namespace gleaner::program {
namespace {

struct ControlOptions {
  std::string state;
  std::string socket;
  std::string duration;
  bool json = false;
};

state::StateDirectory state_of(const ControlOptions& options) {
  return {options.state.empty() ? default_state_directory() : io::Path(options.state)};
}

io::Path socket_of(const ControlOptions& options) {
  return options.socket.empty() ? state_of(options).socket() : io::Path(options.socket);
}

int converse(const ControlOptions& options, const nlohmann::json& request) {
  const auto reply = platform::ask_daemon(socket_of(options), request.dump());
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
  CLI::App* receipts = add("receipts", "What the servers acknowledged: this computer's contribution");
  ReceiptsCommand wanted;
  receipts->add_flag("--all", wanted.all, "Not only the newest");
  receipts->add_option("--project", wanted.project, "Of this one only: its name, key or server");
  CLI::App* projects = add("projects", "Which projects it computes for, and how much each gets");
  projects->require_subcommand(0, 1);
  ProjectsCommand shared;
  CLI::App* share = projects->add_subcommand("share", "How much of this computer one gets")->fallthrough();
  CLI::App* suspend =
      projects->add_subcommand("suspend", "Compute nothing for one; deliver its results")->fallthrough();
  CLI::App* take_up = projects->add_subcommand("resume", "Compute for a suspended one again")->fallthrough();
  for (CLI::App* one : {share, suspend, take_up})
    one->add_option("project", shared.project, "Its name, the beginning of its key, or its server")
        ->required();
  share->add_option("share", shared.share, "Beside those of the others; 0: no new work from it")
      ->required()
      ->check(CLI::Range(0.0, 1000.0));
  CLI::App* page = add("page", "What it does, in a browser on this computer");
  PageCommand browse;
  page->add_option("--port", browse.port, "To listen on; 0: any")->check(CLI::Range(0, 65535));
  page->add_flag("!--no-browser", browse.browser, "Only print the address");
  add("log", "What the client said lately");
  CLI::App* top = add("top", "What it does, live in this terminal");
  add("quit", "Deliver what is finished and stop the client");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  // Once: whoever acts as the client's user has another default.
  options.state = state_of(options).root.string();
  // What is written as the superuser must be readable by the client.
  if (const auto owner = platform::become_owner_of(state_of(options).root); !owner.ok()) {
    fmt::print(stderr, "gleaner: {}\n", owner.error().message);
    return exit_problem;
  }
  if (prefs->parsed()) {
    preferences.state = state_of(options);
    preferences.verb = show->parsed() ? "show" : set->parsed() ? "set" : "explain";
    preferences.json = options.json;
    return run_preferences(preferences);
  }
  if (receipts->parsed()) {
    wanted.state = state_of(options);
    wanted.json = options.json;
    return run_receipts(wanted);
  }
  if (projects->parsed()) {
    shared.state = state_of(options);
    shared.socket = socket_of(options);
    shared.verb = share->parsed()     ? "share"
                  : suspend->parsed() ? "suspend"
                  : take_up->parsed() ? "resume"
                                      : "show";
    shared.json = options.json;
    return run_projects(shared);
  }
  if (page->parsed()) {
    browse.state = state_of(options);
    browse.socket = socket_of(options);
    return run_page(browse);
  }
  if (top->parsed() && !options.json) return run_top(socket_of(options));
  if (top->parsed()) return converse(options, {{"version", 1}, {"command", "status"}});
  nlohmann::json request = {{"version", 1}, {"command", app.get_subcommands().front()->get_name()}};
  if (!options.duration.empty()) request["seconds"] = parse_duration(options.duration).value();
  return converse(options, request);
}

}  // namespace gleaner::program
