// problem errors; contribution.
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/console_messages.h"
#include "shared/protocol/text.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"
#include "tools/admin/problem_views.h"

namespace gleaner::admin {
namespace {

struct ErrorChoice {
  std::string which;  // empty: of all problems
  bool full = false;
};

struct DayChoice {
  int days = 14;
};

Result<std::vector<protocol::ErrorGroup>> errors_of(Api& api, const std::string& which) {
  if (which.empty()) return api.get<std::vector<protocol::ErrorGroup>>("/v1/admin/errors");
  TRY_ASSIGN(const auto problem, find_problem(api, which));
  return problem.errors;
}

Result<ExitCode> show_errors(Session& session, const ErrorChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto errors, errors_of(*api, choice.which));
  if (session.json())
    session.print_json(protocol::encode(errors));
  else if (errors.empty())
    session.people() << "no recent failures\n";
  else
    session.people() << error_text(errors, choice.full ? ErrorDetail::all : ErrorDetail::sentence,
                                   session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> show_contribution(Session& session, const DayChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(auto days, api->get<std::vector<protocol::DayInfo>>("/v1/admin/days"));
  if (days.size() > static_cast<std::size_t>(choice.days)) days.erase(days.begin(), days.end() - choice.days);
  if (session.json()) {
    session.print_json(protocol::encode(days));
    return ExitCode::ok;
  }
  if (days.empty())
    session.people() << "nothing yet: hosts have not computed for this project since it counts days\n";
  else
    session.people() << day_table(days).render(session.people_display());
  return ExitCode::ok;
}

}  // namespace

void add_errors_command(CLI::App& problems, Action& chosen) {
  const auto options = std::make_shared<ErrorChoice>();
  CLI::App* command = problems.add_subcommand("errors", "List failures, identical messages grouped");
  command->add_option("problem", options->which, "the problem; default: all active problems")
      ->type_name("ID|NAME");
  command->add_flag("--full", options->full, "with the full output of the programs, such as tracebacks");
  on_parse(command, chosen, options, show_errors);
}

void add_contribution_command(CLI::App& program, Action& chosen) {
  const auto options = std::make_shared<DayChoice>();
  CLI::App* command = program.add_subcommand("contribution", "Show what hosts contributed, day by day (UTC)");
  command->add_option("--days", options->days, "how many of the newest days")
      ->capture_default_str()
      ->check(CLI::Range(1, protocol::DayInfo::shown_max));
  command->footer(
      "A core-hour is an hour of one core at work. Energy counts cores whose owners said what they draw.");
  on_parse(command, chosen, options, show_contribution);
}

}  // namespace gleaner::admin
