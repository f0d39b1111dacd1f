#include "client/program/join_program.h"

#include <fmt/format.h>

#include "client/join/join.h"
#include "client/platform/machine_facts.h"
#include "client/platform/owner.h"
#include "client/platform/state_lock.h"
#include "client/program/exit_status.h"
#include "client/program/late_join.h"
#include "client/program/version.h"
#include "client/state/projects.h"
#include "shared/base/paths.h"
#include "shared/io/private_files.h"
#include "shared/io/secret_file.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

int complain(const Error& error) {
  terminal::print(stderr, "gleaner-client: {}\n", error.message);
  return exit_problem;
}

// Nobody else uses the state while it lives, and it is in the present layout.
Result<platform::StateLock> take_state(const state::StateDirectory& state) {
  TRY_ASSIGN(platform::StateLock lock, platform::StateLock::take(state.lock()));
  TRY(state::migrate_state(io::real_files(), state));
  return lock;
}

// Those that are meant: all, the only one, or the one that is named.
Result<std::vector<state::ProjectNames>> meant(const LeaveCommand& command) {
  TRY_ASSIGN(std::vector<state::ProjectNames> names, state::project_names(io::real_files(), command.state));
  if (names.empty())
    return Error{ErrorKind::not_found, "this computer has not joined a project (nothing in " +
                                           utf8_text(command.state.projects()) +
                                           "): there is nothing to leave"};
  if (command.all || (command.project.empty() && names.size() == 1)) return names;
  if (command.project.empty())
    return Error{ErrorKind::invalid,
                 "this computer has joined several projects: say which to leave: " + state::list_of(names)};
  TRY_ASSIGN(const std::size_t index, state::find_project(names, command.project));
  return std::vector{names[index]};
}

Status leave_one(const state::StateDirectory& state, const state::ProjectNames& project) {
  io::Files& files = io::real_files();
  const state::ProjectDirectory directory = state.project(project.key);
  const auto identity = state::load_identity(files, directory);
  const Connection connection(identity.ok() ? identity->code : protocol::JoinCode{}, directory);
  TRY(joining::leave(connection.http(), files, directory));
  terminal::print("Left the project {}; its data has been removed from {}.\n", project.name,
                  utf8_text(state.root));
  return {};
}

Status leave(const LeaveCommand& command) {
  io::Files& files = io::real_files();
  const state::StateDirectory& state = command.state;
  if (!files.exists(state.root))
    return Error{ErrorKind::not_found, "there is no state in " + utf8_text(state.root) +
                                           ": this computer has not joined a project with it"};
  TRY_ASSIGN(const platform::StateLock lock, take_state(state));
  TRY_ASSIGN(const auto projects, meant(command));
  for (const state::ProjectNames& project : projects) TRY(leave_one(state, project));
  TRY_ASSIGN(const auto others, state::joined_projects(files, state));
  if (!others.empty()) {
    terminal::print("This computer continues with {} more.\n", others.size());
    return {};
  }
  for (const io::Path& path : {state.projects(), state.slots(), state.shares()}) TRY(files.remove_all(path));
  return {};
}

// Another process has the state: a client, which joins, or another of these commands.
int join_running(const JoinCommand& command, const Error& in_use) {
  const auto joined = join_by_daemon(command.state, command.code, command.name);
  if (!joined.ok()) return complain(joined.error().kind == ErrorKind::not_found ? in_use : joined.error());
  terminal::print("Joined {}. The client that runs here serves it from now on.\n", *joined);
  return exit_ok;
}

}  // namespace

int run_join(const JoinCommand& command) {
  const auto given = io::read_secret_argument(command.code);
  const auto code =
      given.ok() ? protocol::parse_join_code(*given) : Result<protocol::JoinCode>(given.error());
  if (!code.ok()) return complain(code.error());
  io::Files& files = io::real_files();
  const state::StateDirectory& state = command.state;
  const auto owner = platform::become_owner_of(state.root);
  if (!owner.ok()) return complain(owner.error());
  if (const Status made = files.make_directories(state.root); !made.ok()) return complain(made.error());
  if (const std::string told = io::close_to_others(state.root); !told.empty())
    terminal::print(stderr, "gleaner-client: {}\n", told);
  const auto lock = take_state(state);
  if (!lock.ok() && lock.error().kind == ErrorKind::conflict) return join_running(command, lock.error());
  if (!lock.ok()) return complain(lock.error());
  const state::ProjectDirectory project = state.project(state::project_key(code->root_fingerprint));
  const bool before = state::load_identity(files, project).ok();
  joining::JoinFacts facts;
  facts.name = command.name;
  facts.client_version = version;
  const auto joined = join_with(state, *platform::make_machine(), *code, facts);
  if (!joined.ok()) return complain(joined.error());
  const std::string start =
      owner->empty() ? "gleaner-client run" + (command.named_state ? " --state " + utf8_text(state.root) : "")
                     : "systemctl start gleaner-client (it runs as " + *owner + ")";
  const auto all = state::joined_projects(files, state);
  const std::string several =
      all.ok() && all->size() > 1
          ? fmt::format(
                "This computer has joined {} projects: see them and their shares with `gleaner projects`.\n",
                all->size())
          : "";
  terminal::print("{} {} at {} as host {} (\"{}\"). State: {}\n{}Start computing with: {}\n",
                  before ? "This computer has joined" : "Joined", joined->project_name(),
                  joined->code.base_url(), joined->host.host.value, joined->name, utf8_text(state.root),
                  several, start);
  return exit_ok;
}

int run_leave(const LeaveCommand& command) {
  const auto owner = platform::become_owner_of(command.state.root);
  if (!owner.ok()) return complain(owner.error());
  const Status left = leave(command);
  return left.ok() ? exit_ok : complain(left.error());
}

}  // namespace gleaner::program
