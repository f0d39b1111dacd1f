// problem add, list, show, watch, pause, resume, retry, upgrade, cancel, delete, decisions; errors:
// command_errors.cpp; output: command_output.cpp; result, preview: command_result.cpp.
#include <algorithm>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/flow_nodes.h"
#include "tools/admin/problem_after.h"
#include "tools/admin/problem_views.h"
#include "tools/admin/progress.h"
#include "tools/admin/watch.h"

namespace gleaner::admin {
namespace {

struct AddOptions {
  protocol::AddProblem problem;
  ProblemOptions content;
  std::vector<std::string> after;  // ids or names of earlier problems
  bool watch = false;
  bool estimate = false;
};
struct ProblemChoice {
  std::string which;  // id or name
  double interval_seconds = 0;
  bool yes = false;
  bool failed = false;
  ProblemOptions content;  // of append
  std::string application;
  int count = 50;
};

// Of a table's results: how many rows failed, and what to do. Says nothing where an older server cannot tell.
void tell_failed_rows(Session& session, Api& api, const protocol::ProblemInfo& problem) {
  const auto named = [&](const char* name) {
    return std::ranges::find(problem.results, name, &protocol::ResultFile::name);
  };
  if (named("table.csv") == problem.results.end() || named("rows.tar") == problem.results.end()) return;
  const auto table = api.table(named("table.csv")->digest);
  if (!table.ok() || table->failed == 0) return;
  const std::string sentence = count_text(table->failed) + " of " + counted(table->rows, "row") + " failed";
  session.people() << tinted(sentence, Tint::bad, session.people_display())
                   << ": gleaner-admin problem retry " << problem.id.value << " --failed\n";
}

Result<ExitCode> watch_to_end(Session& session, Api& api, ProblemId id, Duration interval) {
  TRY_ASSIGN(const auto problem, watch_problem(session, api, id, interval));
  session.people() << tinted(ending_text(problem), tint_of(problem.state), session.people_display()) << '\n';
  tell_failed_rows(session, api, problem);
  if (session.json())
    session.print_json(protocol::encode(problem));
  else if (!problem.results.empty())
    session.people() << "next: gleaner-admin problem result " << id.value << '\n';
  return problem.state == protocol::ProblemState::finished ? ExitCode::ok : ExitCode::failed;
}

Result<ExitCode> add(Session& session, const AddOptions& options) {
  protocol::AddProblem problem = options.problem;
  TRY_ASSIGN(problem.parameters, read_parameters(session.outside().files, options.content));
  TRY_ASSIGN(const FlowNode node, node_of(session.outside().files, problem, options.content, options.after));
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const FlowProblems earlier, await_earlier(session, *api, node));
  TRY(add_inputs(session, *api, node, earlier, problem.inputs));
  if (options.estimate) {
    TRY_ASSIGN(const auto estimate, api->estimate_problem(problem));
    if (session.json())
      session.print_json(protocol::encode(estimate));
    else
      session.people() << estimate_text(estimate, session.people_display());
    return ExitCode::ok;
  }
  TRY_ASSIGN(const auto added, api->add_problem(problem));
  if (options.watch) {
    session.people() << "added problem " << added.id.value << " (" << added.name << ")\n";
    return watch_to_end(session, *api, added.id, default_interval(session.people_display()));
  }
  if (session.json())
    session.print_json(protocol::encode(added));
  else
    session.people() << "added problem " << added.id.value << " (" << added.name
                     << ")\nnext: gleaner-admin problem "
                     << "watch " << added.id.value << '\n';
  return ExitCode::ok;
}

Result<ExitCode> list_problems(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problems, api->problems());
  if (session.json())
    session.print_json(protocol::encode(problems));
  else if (problems.empty())
    session.people() << "no problems yet: add one with `gleaner-admin problem add --app NAME`\n";
  else
    session.people() << problem_table(problems).render(session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> show(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  if (session.json()) {
    session.print_json(protocol::encode(problem));
  } else {
    session.people() << problem_text(problem, session.people_display());
    tell_failed_rows(session, *api, problem);
  }
  return ExitCode::ok;
}

Result<ExitCode> watch(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  const Duration interval = choice.interval_seconds > 0 ? from_seconds(choice.interval_seconds)
                                                        : default_interval(session.people_display());
  return watch_to_end(session, *api, problem.id, interval);
}

ExitCode tell_state(Session& session, const protocol::ProblemInfo& problem) {
  if (session.json())
    session.print_json(protocol::encode(problem));
  else
    session.people() << "problem " << problem.id.value << " (" << problem.name << ") is "
                     << protocol::name_of(problem.state) << '\n';
  return ExitCode::ok;
}

Result<ExitCode> change(Session& session, const ProblemChoice& choice, const std::string& verb) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, choice.which));
  TRY_ASSIGN(const auto problem, api->change_problem(found.id, verb));
  return tell_state(session, problem);
}

Result<ExitCode> append(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(const FlowNode rows, node_of(session.outside().files, {}, choice.content, {}));
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, choice.which));
  protocol::AppendInputs more;
  TRY(add_inputs(session, *api, rows, {}, more.inputs));
  TRY_ASSIGN(const auto problem, api->append(found.id, more));
  if (session.json())
    session.print_json(protocol::encode(problem));
  else
    session.people() << "problem " << problem.id.value << " (" << problem.name << ") has "
                     << counted(problem.items - found.items, "more row") << ": " << count_text(problem.items)
                     << " in all\n";
  return ExitCode::ok;
}

Result<ExitCode> pause(Session& session, const ProblemChoice& choice) {
  return change(session, choice, "pause");
}
Result<ExitCode> resume(Session& session, const ProblemChoice& choice) {
  return change(session, choice, "resume");
}
Result<ExitCode> retry(Session& session, const ProblemChoice& choice) {
  if (!choice.failed) return change(session, choice, "retry");
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, choice.which));
  TRY_ASSIGN(const auto problem, api->retry_failed(found.id));
  return tell_state(session, problem);
}

Result<ExitCode> upgrade(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, choice.which));
  TRY_ASSIGN(const auto problem, api->change_application(found.id, {choice.application}));
  if (session.json())
    session.print_json(protocol::encode(problem));
  else
    session.people() << "problem " << problem.id.value << " (" << problem.name << ") continues with "
                     << problem.application << ": " << count_text(problem.accepted) << " of "
                     << count_text(problem.items) << " items are accepted and stay\n";
  return ExitCode::ok;
}

// Nobody can take it back, so a person at a terminal is asked; a script has said what it means.
Result<ExitCode> cancel(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, choice.which));
  const std::string name = "problem " + std::to_string(found.id.value) + " (" + found.name + ", " +
                           percent_text(fraction_of(found), 1) + " done)";
  if (!choice.yes && !session.json() && !ended(found.state)) {
    const auto sure = session.confirm("End " + name + " for good?", false);
    if (sure.ok() && !*sure) {
      session.people() << name << " keeps running\n";
      return ExitCode::failed;
    }
  }
  TRY_ASSIGN(const ExitCode done, change(session, choice, "cancel"));
  if (!session.json() && found.accepted > 0)
    session.people() << "accepted items are kept: gleaner-admin problem result " << found.id.value
                     << " --partial\n";
  return done;
}

Result<ExitCode> remove(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  const std::string name = "problem " + std::to_string(problem.id.value) + " (" + problem.name + ", " +
                           protocol::name_of(problem.state) + ")";
  TRY_ASSIGN(const bool sure, session.confirm("Delete " + name + " with all its results?", choice.yes));
  if (sure) TRY(api->remove_problem(problem.id));
  if (session.json())
    session.print_json(
        Document().number("id", problem.id.value).text("done", sure ? "deleted" : "kept").render());
  else
    session.people() << name << (sure ? " is deleted\n" : " is kept\n");
  return sure ? ExitCode::ok : ExitCode::failed;
}

Result<ExitCode> decisions(Session& session, const ProblemChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  TRY_ASSIGN(const auto taken, api->decisions(problem.id, choice.count));
  if (session.json())
    session.print_json(protocol::encode(taken));
  else if (taken.empty())
    session.people() << "no decisions yet\n";
  else
    session.people() << decision_table(taken).render(session.people_display());
  return ExitCode::ok;
}

void declare_add(CLI::App& problems, Action& chosen) {
  const auto options = std::make_shared<AddOptions>();
  protocol::AddProblem& problem = options->problem;
  CLI::App* command =
      problems.add_subcommand("add", "Add a problem: an application with parameters and inputs");
  command->add_option("--app", problem.application, "the application; default: its newest version")
      ->required()
      ->type_name("NAME[@VERSION]");
  command
      ->add_option("--name", problem.name,
                   "name of the problem; default: the application's name and a number")
      ->check(name_validator());
  declare_problem_options(command, options->content);
  command
      ->add_option("--after", options->after,
                   "an earlier problem, whose results may be inputs: --input [NAME=]ID/RESULT, or --table "
                   "ID/RESULT; waits until it is finished (repeatable)")
      ->type_name("ID|NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--strategy", problem.strategy,
                   "how units are sized: one of `strategy list`, with options; default: the server's setting")
      ->type_name("NAME[,KEY=VALUE...]");
  command
      ->add_option(
          "--straggler", problem.straggler,
          "what happens to units that lag behind: a rule of `strategy list`; default: the server's setting")
      ->type_name("RULE");
  command
      ->add_option("--weight", problem.weight, "share of the slots' time among problems of the same priority")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1000.0));
  command
      ->add_option("--priority", problem.priority,
                   "problems of higher priority get hosts first; lower ones get the rest")
      ->capture_default_str()
      ->check(CLI::Range(-8, 8));
  command
      ->add_option("--validation", problem.validation,
                   "how results are verified: none, checks, spot:P, quorum:N or adaptive; default: checks if "
                   "the application's manager finds every wrong result, else adaptive")
      ->type_name("POLICY");
  command
      ->add_option("--commit-seconds", problem.commit_seconds,
                   "how often hosts deliver finished items; 0: the project's setting")
      ->capture_default_str()
      ->check(CLI::Range(0, 86'400));
  CLI::Option* watch = command->add_flag("--watch", options->watch, "watch the problem until it ends");
  command
      ->add_flag("--estimate", options->estimate,
                 "only estimate cost and finish time, from earlier problems of the application")
      ->excludes(watch);
  command->footer(
      "`gleaner-admin app show NAME` lists an application's parameters and inputs.\n"
      "Examples:\n  gleaner-admin problem add --app raytrace --param scene=D --param width=840 --watch\n"
      "  gleaner-admin problem add --app raytrace@1.0.0 --parameters scene.json --input mesh.obj=bunny.obj\n"
      "  gleaner-admin problem add --app squeeze --after sweep --input sweep/table.csv\n"
      "With --after the command waits for the earlier problem, and adds nothing and exits with 1 if that\n"
      "fails, is cancelled or is stopped. `flow run` does so for many problems.");
  on_parse(command, chosen, options, add);
}

CLI::App* declare_choice(CLI::App& problems, Action& chosen, const std::string& name, const std::string& help,
                         ProblemChoice*& choice, Result<ExitCode> (*action)(Session&, const ProblemChoice&)) {
  const auto options = std::make_shared<ProblemChoice>();
  choice = options.get();
  CLI::App* command = problems.add_subcommand(name, help);
  command->add_option("problem", options->which, "problem id, or its name if no other problem has it")
      ->required()
      ->type_name("ID|NAME");
  on_parse(command, chosen, options, action);
  return command;
}

}  // namespace

void add_problem_commands(CLI::App& program, Action& chosen) {
  CLI::App& problems = *program.add_subcommand("problem", "Add, watch and end problems; fetch their results");
  problems.require_subcommand(1);
  declare_add(problems, chosen);
  on_parse(problems.add_subcommand("list", "List all problems"), chosen, std::make_shared<NoOptions>(),
           list_problems);
  ProblemChoice* choice = nullptr;
  declare_choice(problems, chosen, "show", "Show a problem, its hosts and its results", choice, show);
  CLI::App* command =
      declare_choice(problems, chosen, "watch", "Show live progress until the problem ends", choice, watch);
  command
      ->add_option("--interval", choice->interval_seconds,
                   "seconds between updates; default: 0.5, or 5 without a terminal")
      ->check(CLI::Range(0.1, 3600.0));
  command->footer(
      "If the problem is stopped, the command ends and shows the reason.\n"
      "Exits with 0 when the problem finishes, 1 when it fails, is cancelled or is stopped.");
  add_strategy_commands(program, problems, chosen);
  add_errors_command(problems, chosen);
  add_output_command(problems, chosen);
  declare_choice(problems, chosen, "pause", "Pause a problem; hosts stop computing it", choice, pause);
  declare_choice(problems, chosen, "resume", "Resume a paused problem", choice, resume);
  command = declare_choice(problems, chosen, "retry", "Retry failed items", choice, retry);
  command->footer(
      "Quarantined items are assigned again; a failed problem continues where it failed, and an "
      "application\nthat was stopped because it failed on most hosts is tried again. With --failed a "
      "finished problem\nruns again until its results are made anew.");
  command->add_flag("--failed", choice->failed, "only rows of a table whose program failed");
  command = declare_choice(problems, chosen, "append", "Add rows to the table of a problem", choice, append);
  command
      ->add_option("--table", choice->content.table,
                   "file with the new rows, and the same column names in its first line")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--input", choice->content.inputs,
          "a file that the rows name, or a directory of them; default NAME: the file's own name (repeatable)")
      ->type_name("[NAME=]FILE|DIR")
      ->allow_extra_args(false);
  command->footer(
      "The numbers of new rows follow the existing ones. A finished problem runs again until the new "
      "rows\nare computed.");
  command = declare_choice(problems, chosen, "upgrade",
                           "Compute the rest with a fixed version of the application", choice, upgrade);
  command
      ->add_option("--app", choice->application,
                   "the fixed version; its manifest names the present one in `compatible_with`")
      ->required()
      ->type_name("NAME[@VERSION]");
  command->footer("Accepted items stay; units that the old version computes are given back.");
  command = declare_choice(problems, chosen, "cancel", "Cancel a problem for good; accepted items are kept",
                           choice, cancel);
  command->add_flag("--yes", choice->yes, "do not ask");
  add_result_commands(problems, chosen);
  command =
      declare_choice(problems, chosen, "delete", "Delete a problem with all its results", choice, remove);
  command->add_flag("--yes", choice->yes, "do not ask");
  command = declare_choice(problems, chosen, "decisions",
                           "Show the server's latest decisions and their reasons", choice, decisions);
  command->add_option("--count", choice->count, "how many decisions, the newest")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
}

}  // namespace gleaner::admin
