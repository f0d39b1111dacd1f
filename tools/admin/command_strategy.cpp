// strategy list; problem strategy and problem explain: what decides how work is handed out, and why it did.
#include <algorithm>

#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"
#include "tools/admin/problem_views.h"

namespace gleaner::admin {
namespace {

constexpr int units_explained = 20;
constexpr int decisions_looked_at = 2000;

struct ListOptions {
  std::string kind;
};
struct ChangeOptions {
  std::string which;  // problem
  protocol::ChangeStrategy change;
};
struct ExplainOptions {
  std::string which;
  int count = units_explained;
};

Result<ExitCode> list(Session& session, const ListOptions& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(auto all, api->strategies());
  std::erase_if(all, [&](const auto& info) { return !options.kind.empty() && info.kind != options.kind; });
  if (session.json()) {
    session.print_json(protocol::encode(all));
    return ExitCode::ok;
  }
  Table table({{"NAME"}, {"KIND"}, {"WHAT IT DOES"}, {"SOURCE"}});
  for (const auto& info : all) table.add({info.name, info.kind, info.summary, info.source});
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

// `goes_on` says with what the problem goes on.
template <typename GoesOn>
Result<ExitCode> apply(Session& session, const ChangeOptions& options, const GoesOn& goes_on) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, options.which));
  TRY_ASSIGN(const auto problem, api->change_strategy(found.id, options.change));
  if (session.json())
    session.print_json(protocol::encode(problem));
  else
    session.people() << "problem " << problem.id.value << " (" << problem.name << ") continues with "
                     << goes_on(problem) << '\n';
  return ExitCode::ok;
}

Result<ExitCode> change(Session& session, const ChangeOptions& options) {
  if (options.change.strategy.empty() && options.change.straggler.empty())
    return Error{ErrorKind::invalid, "name a strategy, or a rule with --straggler (see `strategy list`)"};
  return apply(session, options, [](const protocol::ProblemInfo& problem) {
    return problem.strategy + ", stragglers: " + problem.straggler;
  });
}

Result<ExitCode> set(Session& session, const ChangeOptions& options) {
  if (!options.change.weight && !options.change.priority)
    return Error{ErrorKind::invalid, "say what to set: --weight or --priority"};
  return apply(session, options, [](const protocol::ProblemInfo& problem) {
    return "weight " + figure_text(problem.weight) + " and priority " + std::to_string(problem.priority);
  });
}

// What was handed out lately, newest first: a decision with one of the kinds of units.
bool hands_out(const protocol::DecisionInfo& decision) {
  static const std::vector<std::string> kinds{"fresh", "recover", "split", "copy", "flood", "check"};
  return std::find(kinds.begin(), kinds.end(), decision.kind) != kinds.end();
}

Result<ExitCode> explain(Session& session, const ExplainOptions& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto found, find_problem(*api, options.which));
  TRY_ASSIGN(const auto problem, api->problem(found.id));
  TRY_ASSIGN(auto decisions, api->decisions(found.id, decisions_looked_at));
  std::erase_if(decisions, [](const auto& decision) { return !hands_out(decision); });
  if (static_cast<int>(decisions.size()) > options.count)
    decisions.resize(static_cast<std::size_t>(options.count));
  if (session.json()) {
    session.print_json(protocol::encode(decisions));
    return ExitCode::ok;
  }
  session.people() << "strategy " << problem.strategy << ", stragglers: " << problem.straggler << "; "
                   << count_text(problem.free) << " items free, " << count_text(problem.handed_out)
                   << " handed out, " << figure_text(problem.rate) << "/s by all hosts\n";
  if (!problem.needs.empty())
    session.people() << protocol::clean_line(problem.needs, limits::message_length_max) << '\n';
  session.people() << '\n';
  session.people() << (decisions.empty() ? std::string("nothing was assigned yet\n")
                                         : unit_table(problem, decisions).render(session.people_display()));
  return ExitCode::ok;
}

CLI::Option* declare_problem(CLI::App* command, std::string& which) {
  return command->add_option("problem", which, "problem id, or its name if no other problem has it")
      ->required()
      ->type_name("ID|NAME");
}

}  // namespace

void add_strategy_commands(CLI::App& program, CLI::App& problems, Action& chosen) {
  CLI::App& strategies = *program.add_subcommand("strategy", "List the scheduling strategies");
  strategies.require_subcommand(1);
  const auto list_options = std::make_shared<ListOptions>();
  CLI::App* command = strategies.add_subcommand("list", "List the strategies, a line each with its source");
  command->add_option("--kind", list_options->kind, "only sizing, mapping or straggler")
      ->check(CLI::IsMember({"sizing", "mapping", "straggler"}));
  on_parse(command, chosen, list_options, list);

  const auto change_options = std::make_shared<ChangeOptions>();
  command = problems.add_subcommand("strategy", "Change the strategy of a running problem; no unit is lost");
  declare_problem(command, change_options->which);
  command->add_option("strategy", change_options->change.strategy, "see `strategy list`")
      ->type_name("NAME[,KEY=VALUE...]");
  command
      ->add_option("--straggler", change_options->change.straggler, "what happens to units that lag behind")
      ->type_name("RULE");
  on_parse(command, chosen, change_options, change);

  const auto set_options = std::make_shared<ChangeOptions>();
  command = problems.add_subcommand("set", "Change a running problem's share of the hosts");
  declare_problem(command, set_options->which);
  command
      ->add_option("--weight", set_options->change.weight,
                   "share of the slots' time among problems of the same priority")
      ->check(CLI::Range(0.001, 1000.0));
  command
      ->add_option("--priority", set_options->change.priority,
                   "problems of higher priority get hosts first; lower ones get the rest")
      ->check(CLI::Range(-8, 8));
  on_parse(command, chosen, set_options, set);

  const auto explain_options = std::make_shared<ExplainOptions>();
  command = problems.add_subcommand("explain", "Explain the sizes of the last units");
  declare_problem(command, explain_options->which);
  command->add_option("--count", explain_options->count, "how many units")
      ->capture_default_str()
      ->check(CLI::Range(1, decisions_looked_at));
  on_parse(command, chosen, explain_options, explain);
}

}  // namespace gleaner::admin
