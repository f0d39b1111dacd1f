#include "client/program/projects_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/platform/control_socket.h"
#include "client/program/control_text.h"
#include "client/program/exit_status.h"
#include "client/program/preferences_program.h"
#include "client/state/projects.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

using Json = json::Value;

int refuse(const Error& error) {
  terminal::print(stderr, "gleaner: {}\n", error.message);
  return error.kind == ErrorKind::not_found ? exit_not_running : exit_problem;
}

int show(const ProjectsCommand& command) {
  const Json request = {{"version", 1}, {"command", "status"}};
  const auto reply = platform::ask_daemon(command.socket, json::write(request, {-1, true}));
  if (!reply.ok()) return refuse(reply.error());
  const Json parsed = json::parse_or_null(*reply);
  const Json* const found = parsed["status"].find("projects");
  const Json projects = found != nullptr ? *found : Json::array();
  if (command.json)
    terminal::print("{}\n", json::write(projects, {2, true}));
  else
    terminal::print("{}", projects_text(projects));
  return exit_ok;
}

// The list as in TOML, without those entries that are for this project, and with `added`.
std::string list_with(std::vector<std::string> entries, const state::ProjectNames& project,
                      const std::string& added) {
  const auto concerns = [&project](const std::string& entry) {
    return state::is_named(project, entry) || state::is_named(project, entry.substr(0, entry.rfind('=')));
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), concerns), entries.end());
  if (!added.empty()) entries.push_back(added);
  return json::write(entries);  // TOML writes lists of strings as JSON does
}

}  // namespace

// By its key: a project that calls itself like another one gets nothing by it.
Result<std::string> change_project(const ProjectsCommand& command) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const auto names, state::project_names(files, command.state));
  TRY_ASSIGN(const std::size_t index, state::find_project(names, command.project));
  const state::ProjectNames& project = names[index];
  TRY_ASSIGN(const auto book, settings::PreferenceBook::load(files, preference_files(command.state)));
  const bool shares = command.verb == "share";
  const std::string added = shares                      ? fmt::format("{}={}", project.key, command.share)
                            : command.verb == "suspend" ? project.key
                                                        : "";
  const auto& entries = shares ? book.values().project_shares : book.values().projects_suspended;
  TRY(change_preference(command.state, command.socket, shares ? "project_shares" : "projects_suspended",
                        list_with(entries, project, added)));
  if (shares && command.share == 0) return "no new work will be fetched from " + project.name;
  if (shares) return fmt::format("{} now has a share of {}", project.name, command.share);
  if (command.verb == "suspend")
    return "computing for " + project.name + " is suspended; finished results are still delivered";
  return "computing for " + project.name + " again";
}

std::string projects_text(const Json& projects) {
  std::string out = fmt::format("{:<16}  {:<24} {:<32} {:>6} {:>7} {:>6} {:>8}  {}\n", "key", "project",
                                "server", "share", "recently", "units", "waiting", "state");
  for (const Json& project : projects.elements())
    out +=
        fmt::format("{:<16}  {:<24} {:<32} {:>6} {:>5.0f} % {:>6.0f} {:>8.0f}  {}\n", text_of(project, "key"),
                    text_of(project, "name"), text_of(project, "server"), number_of(project, "share"),
                    100 * number_of(project, "recent_part"), number_of(project, "units_in_hand"),
                    number_of(project, "outbox"), text_of(project, "state"));
  return out;
}

int run_projects(const ProjectsCommand& command) {
  if (command.verb == "show") return show(command);
  const auto changed = change_project(command);
  if (!changed.ok()) {
    terminal::print(stderr, "gleaner: {}\n", changed.error().message);
    return exit_problem;
  }
  terminal::print("{}\n", *changed);
  return exit_ok;
}

}  // namespace gleaner::program
