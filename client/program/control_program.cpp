#include "client/program/control_program.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "client/platform/control_socket.h"
#include "client/platform/owner.h"
#include "client/platform/state_lock.h"
#include "client/program/control_text.h"
#include "client/program/exit_status.h"
#include "client/program/page_program.h"
#include "client/program/preferences_program.h"
#include "client/program/projects_program.h"
#include "client/program/receipts_program.h"
#include "client/program/system_client.h"
#include "client/program/top_program.h"
#include "client/program/version.h"
#include "client/state/state_directory.h"
#include "shared/base/paths.h"
#include "shared/io/private_files.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"
#include "shared/terminal/streams.h"
#include "shared/usage/usage.h"

namespace gleaner::program {
namespace {

struct ControlOptions {
  std::string state;
  std::string socket;
  std::string duration;
  std::string until;
  bool saved = false;
  bool json = false;
};

state::StateDirectory state_of(const ControlOptions& options) {
  return {options.state.empty() ? platform::default_state_directory() : utf8_path(options.state)};
}

io::Path socket_of(const ControlOptions& options) {
  return options.socket.empty() ? state_of(options).socket() : utf8_path(options.socket);
}

int send_command(const ControlOptions& options, const json::Value& request) {
  const auto reply = platform::ask_daemon(socket_of(options), json::write(request, {-1, true}));
  if (!reply.ok()) {
    terminal::print(stderr, "gleaner: {}\n", reply.error().message);
    return reply.error().kind == ErrorKind::not_found ? exit_not_running : exit_problem;
  }
  const json::Value parsed = json::parse_or_null(*reply);
  if (!parsed.is_object()) {
    terminal::print(stderr,
                    "gleaner: cannot understand the client's answer; are both of the same version?\n");
    return exit_problem;
  }
  const bool ok = is_set(parsed, "ok");
  if (options.json) {
    terminal::print("{}\n", json::write(parsed, {2, true}));
  } else if (!ok) {
    terminal::print(stderr, "gleaner: {}\n",
                    parsed["message"].is_string() ? parsed["message"].string() : "the client gave no reason");
  } else {
    terminal::print("{}", reply_text(request["command"].string(), parsed,
                                     terminal::is_terminal(stdout) ? Colour::yes : Colour::no));
  }
  return ok ? exit_ok : exit_problem;
}

// Those stand on either side of a command.
CLI::App* with_common_options(CLI::App* command) {
  command->fallthrough();
  return command->footer(
      "Options of all commands: --json, --state DIR, --socket FILE (see `gleaner --help`).");
}

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "a duration is like 90s, 30m, 1h or 2d, from one second to a year";
}

std::string check_until(const std::string& text) {
  return seconds_until(text, system_clock().now())
             ? ""
             : "a time is like 18:30, \"mon 8:00\" or \"2026-12-24 18:00\", in the future and within a year";
}

}  // namespace

int control_main(int argc, char** argv) {
  io::make_private_files();
  ControlOptions options;
  CLI::App app{"gleaner: control the client that computes on this computer", "gleaner"};
  app.set_version_flag("--version", std::string("gleaner ") + version);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a problem (on standard error), 2 wrong usage, 3 the client is not running.");
  app.add_option("--state", options.state, "The client's state directory");
  app.add_option("--socket", options.socket, "The client's control socket, if it is not in that directory");
  app.add_flag("--json", options.json, "Print the answer as JSON");
  const auto add = [&](const std::string& name, const std::string& description) {
    return with_common_options(app.add_subcommand(name, description));
  };
  add("status", "Show what the client is doing, and its progress");
  CLI::App* pause = add("pause", "Stop computing, for a time or until `resume`");
  CLI::Option* duration = pause
                              ->add_option("duration", options.duration,
                                           "For example 90s, 30m, 1h or 2d; a number alone: minutes")
                              ->check(check_duration);
  pause
      ->add_option("--until", options.until,
                   "Until this local time: 18:30, \"mon 8:00\" or \"2026-12-24 18:00\"")
      ->excludes(duration)
      ->check(check_until);
  pause->add_flag("--at-saved-point", options.saved,
                  "Let each core first save what it computes: its checkpoint, or the item");
  add("resume", "Compute again; take work again after `finish`");
  add("finish", "Finish the units in hand and fetch no more work");
  add("why", "Say in one sentence why the client is computing, or why not");
  CLI::App* prefs = add("prefs", "Show, explain and change the preferences");
  prefs->require_subcommand(0, 1);
  const auto of_prefs = [prefs](const std::string& name, const std::string& description) {
    return with_common_options(prefs->add_subcommand(name, description));
  };
  of_prefs("show", "Show all preferences, and where each value comes from");
  CLI::App* explain = of_prefs("explain", "Explain what the preferences mean");
  CLI::App* set = of_prefs("set", "Change a preference; it takes effect at once");
  CLI::App* unset = of_prefs("unset", "Give a preference back to the preset, or to its default");
  PreferencesCommand preferences;
  explain->add_option("key", preferences.key, "The preference to explain; all by default");
  for (CLI::App* one : {set, unset})
    one->add_option("key", preferences.key, "The preference, as listed by `gleaner prefs show`")->required();
  set->add_option("value", preferences.value, "The new value")->required();
  CLI::App* receipts =
      add("receipts", "Show what the servers have acknowledged: this computer's contribution");
  ReceiptsCommand wanted;
  receipts->add_flag("--all", wanted.all, "Show all receipts, not only the newest");
  receipts->add_option("--project", wanted.project, "Only those of this project: its name, key or server");
  CLI::App* projects = add("projects", "Show the projects, and how much of this computer each gets");
  projects->require_subcommand(0, 1);
  ProjectsCommand shared;
  const auto of_projects = [projects](const std::string& name, const std::string& description) {
    return with_common_options(projects->add_subcommand(name, description));
  };
  CLI::App* share = of_projects("share", "Set how much of this computer a project gets");
  CLI::App* suspend =
      of_projects("suspend", "Stop computing for a project; finished results are still delivered");
  CLI::App* take_up = of_projects("resume", "Compute for a suspended project again");
  for (CLI::App* one : {share, suspend, take_up})
    one->add_option("project", shared.project, "Its name, the beginning of its key, or its server")
        ->required();
  share->add_option("share", shared.share, "Its weight beside the other projects; 0: no new work from it")
      ->required()
      ->check(CLI::Range(0.0, 1000.0));
  CLI::App* page = add("page", "Open a page about the client in a browser on this computer");
  PageCommand browse;
  page->add_option("--port", browse.port, "The port to listen on; 0: any free port")
      ->check(CLI::Range(0, 65535));
  page->add_flag("!--no-browser", browse.browser, "Only print the address");
  add("log", "Show the client's latest log messages");
  CLI::App* top = add("top", "Show live in this terminal what the client is doing");
  add("quit", "Deliver finished results and stop the client");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner: {}\n", usage::explain(app, mistake));
    return exit_usage;
  }
  const std::string command = app.get_subcommands().front()->get_name();
  const SystemClient of_system = system_client();
  if (options.state.empty() && options.socket.empty() &&
      is_meant(of_system, platform::default_state_directory()))
    return answer_for(of_system, command, options.json);
  // Once: whoever acts as the client's user has another default.
  options.state = utf8_text(state_of(options).root);
  // What is written as the superuser must be readable by the client.
  if (const auto owner = platform::become_owner_of(state_of(options).root); !owner.ok()) {
    terminal::print(stderr, "gleaner: {}\n", owner.error().message);
    return exit_problem;
  }
  if (prefs->parsed()) {
    preferences.state = state_of(options);
    preferences.verb = explain->parsed() ? "explain"
                       : set->parsed()   ? "set"
                       : unset->parsed() ? "unset"
                                         : "show";
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
  if (top->parsed()) return send_command(options, {{"version", 1}, {"command", "status"}});
  json::Value request = {{"version", 1}, {"command", command}};
  if (!options.duration.empty()) request["seconds"] = parse_duration(options.duration).value();
  if (!options.until.empty())
    if (const auto seconds = seconds_until(options.until, system_clock().now()))
      request["seconds"] = *seconds;
  if (options.saved) request["at_saved_point"] = true;
  return send_command(options, request);
}

}  // namespace gleaner::program
