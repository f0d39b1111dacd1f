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
#include "shared/usage/help.h"
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

// What was typed.
struct Commands {
  ControlOptions options;
  PreferencesCommand preferences;
  ReceiptsCommand receipts;
  ProjectsCommand projects;
  PageCommand page;
};

CLI::App* add_command(CLI::App& to, const std::string& name, const std::string& description) {
  return with_common_options(to.add_subcommand(name, description));
}

void declare_pause(CLI::App& app, ControlOptions& options) {
  CLI::App* pause = add_command(app, "pause", "Stop computing, for a time or until `resume`");
  CLI::Option* duration = pause
                              ->add_option("duration", options.duration,
                                           "For example 90s, 30m, 1h or 2d; a number alone: minutes")
                              ->check(check_duration);
  pause
      ->add_option("--until", options.until,
                   "Until this local time: 18:30, \"mon 8:00\" or \"2026-12-24 18:00\"")
      ->type_name("TIME")
      ->excludes(duration)
      ->check(check_until);
  pause->add_flag("--at-saved-point", options.saved,
                  "Stop each core when it has saved its work: a checkpoint, or the item");
}

void declare_preferences(CLI::App& app, PreferencesCommand& preferences) {
  CLI::App* prefs = add_command(app, "prefs", "Show, explain and change the preferences");
  prefs->require_subcommand(0, 1);
  add_command(*prefs, "show", "Show all preferences, and where each value comes from");
  CLI::App* explain = add_command(*prefs, "explain", "Explain what the preferences mean");
  CLI::App* set = add_command(*prefs, "set", "Change a preference; it takes effect at once");
  CLI::App* unset = add_command(*prefs, "unset", "Reset a preference to the preset, or to its default");
  explain->add_option("key", preferences.key, "The preference to explain; all by default");
  for (CLI::App* one : {set, unset})
    one->add_option("key", preferences.key, "The preference, as listed by `gleaner prefs show`")->required();
  set->add_option("value", preferences.value, "The new value")->required();
}

void declare_receipts(CLI::App& app, ReceiptsCommand& wanted) {
  CLI::App* receipts =
      add_command(app, "receipts", "Show what the servers have acknowledged: this computer's contribution");
  receipts->add_flag("--all", wanted.all, "Show all receipts, not only the newest");
  receipts->add_option("--project", wanted.project, "Only those of this project: its name, key or server");
}

void declare_projects(CLI::App& app, ProjectsCommand& wanted) {
  CLI::App* projects =
      add_command(app, "projects", "Show the projects, and how much of this computer each gets");
  projects->require_subcommand(0, 1);
  CLI::App* share = add_command(*projects, "share", "Set how much of this computer a project gets");
  CLI::App* suspend =
      add_command(*projects, "suspend", "Stop computing for a project; finished results are still delivered");
  CLI::App* take_up = add_command(*projects, "resume", "Compute for a suspended project again");
  for (CLI::App* one : {share, suspend, take_up})
    one->add_option("project", wanted.project, "Its name, the beginning of its key, or its server")
        ->required();
  share->add_option("share", wanted.share, "Its weight beside the other projects; 0: no new work from it")
      ->required()
      ->check(CLI::Range(0.0, 1000.0));
}

void declare_page(CLI::App& app, PageCommand& wanted) {
  CLI::App* page = add_command(app, "page", "Open a page about the client in a browser on this computer");
  page->add_option("--port", wanted.port, "The port to listen on; 0: any free port")
      ->check(CLI::Range(0, 65535));
  page->add_flag("!--no-browser", wanted.browser, "Only print the address");
}

void declare(CLI::App& app, Commands& all) {
  usage::set_help_form(app);
  app.set_version_flag("--version", std::string("gleaner ") + version);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a problem (on standard error), 2 wrong usage, 3 the client is not running.");
  app.add_option("--state", all.options.state, "The client's state directory")->type_name("DIR");
  app.add_option("--socket", all.options.socket,
                 "The client's control socket, if it is not in that directory")
      ->type_name("FILE");
  app.add_flag("--json", all.options.json, "Print the answer as JSON");
  add_command(app, "status", "Show what the client is doing, and its progress");
  declare_pause(app, all.options);
  add_command(app, "resume", "Compute again; take work again after `finish`");
  add_command(app, "finish", "Finish current work; fetch no new units");
  add_command(app, "why", "Explain in one sentence why the client is computing, or why not");
  declare_preferences(app, all.preferences);
  declare_receipts(app, all.receipts);
  declare_projects(app, all.projects);
  declare_page(app, all.page);
  add_command(app, "log", "Show the client's latest log messages");
  add_command(app, "top", "Show live in this terminal what the client is doing");
  add_command(app, "quit", "Deliver finished results and stop the client");
}

// Of `prefs` and `projects`, which show without one.
std::string verb_of(const CLI::App& command) {
  const auto verbs = command.get_subcommands();
  return verbs.empty() ? "show" : verbs.front()->get_name();
}

// The client is asked, or told something.
int control(const std::string& command, const ControlOptions& options) {
  json::Value request = {{"version", 1}, {"command", command}};
  if (!options.duration.empty()) request["seconds"] = parse_duration(options.duration).value();
  if (!options.until.empty())
    if (const auto seconds = seconds_until(options.until, system_clock().now()))
      request["seconds"] = *seconds;
  if (options.saved) request["at_saved_point"] = true;
  return send_command(options, request);
}

int act(const CLI::App& command, Commands& all) {
  const std::string name = command.get_name();
  const state::StateDirectory state = state_of(all.options);
  const io::Path socket = socket_of(all.options);
  all.preferences.state = all.receipts.state = all.projects.state = all.page.state = state;
  all.projects.socket = all.page.socket = socket;
  all.preferences.json = all.receipts.json = all.projects.json = all.options.json;
  if (name == "prefs") {
    all.preferences.verb = verb_of(command);
    return run_preferences(all.preferences);
  }
  if (name == "projects") {
    all.projects.verb = verb_of(command);
    return run_projects(all.projects);
  }
  if (name == "receipts") return run_receipts(all.receipts);
  if (name == "page") return run_page(all.page);
  if (name == "top" && !all.options.json) return run_top(socket);
  return control(name == "top" ? "status" : name, all.options);
}

}  // namespace

int control_main(int argc, char** argv) {
  io::make_private_files();
  Commands all;
  CLI::App app{"gleaner: control the client that computes on this computer", "gleaner"};
  declare(app, all);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner: {}\n", usage::explain(app, mistake));
    return exit_usage;
  }
  const CLI::App& command = *app.get_subcommands().front();
  ControlOptions& options = all.options;
  const SystemClient of_system = system_client();
  if (options.state.empty() && options.socket.empty() &&
      is_meant(of_system, platform::default_state_directory()))
    return answer_for(of_system, command.get_name(), options.json);
  // Once: whoever acts as the client's user has another default.
  options.state = utf8_text(state_of(options).root);
  // What is written as the superuser must be readable by the client.
  if (const auto owner = platform::become_owner_of(state_of(options).root); !owner.ok()) {
    terminal::print(stderr, "gleaner: {}\n", owner.error().message);
    return exit_problem;
  }
  return act(command, all);
}

}  // namespace gleaner::program
