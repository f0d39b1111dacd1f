// flow run, flow show: problems that need each other's results.
#include <charconv>
#include <map>

#include "shared/json/text.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/flow_checks.h"
#include "tools/admin/flow_file.h"
#include "tools/admin/flow_nodes.h"
#include "tools/admin/watch.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t flow_bytes_max = 1 << 20;
using protocol::ProblemInfo;
using protocol::ProblemState;

struct FlowOptions {
  std::string file;
  bool again = false;  // see nodes_again()
};

using Problems = FlowProblems;

// How often the node of that name was added when this problem was: FLOW/NODE is 1, FLOW/NODE.2 is 2; 0: it is
// another one's.
int turn_of(const std::string& problem, const std::string& node) {
  if (problem == node) return 1;
  if (!problem.starts_with(node + ".")) return 0;
  int turn = 0;
  const char* const end = problem.data() + problem.size();
  const auto read = std::from_chars(problem.data() + node.size() + 1, end, turn);
  return read.ec == std::errc() && read.ptr == end ? turn : 0;
}

Result<Problems> find_problems(Api& api, const Flow& flow) {
  TRY_ASSIGN(const auto all, api.problems());
  Problems problems;
  for (const FlowNode& node : flow.nodes)
    for (const ProblemInfo& problem : all)
      if (turn_of(problem.name, node.problem.name) > 0)
        if (const auto found = problems.find(node.name);
            found == problems.end() || found->second.id < problem.id)
          problems[node.name] = problem;
  return problems;
}

// `turn`: how often it was added before.
Result<ProblemInfo> add_node(Session& session, Api& api, const FlowNode& node, const Problems& problems,
                             int turn) {
  protocol::AddProblem problem = node.problem;
  if (turn > 0) problem.name += "." + std::to_string(turn + 1);
  TRY(add_inputs(session, api, node, problems, problem.inputs));
  return api.add_problem(problem);
}

// The plan as the server is told it, with what it refused.
protocol::FlowInfo plan_of(const Flow& flow, const Problems& refused) {
  protocol::FlowInfo plan;
  plan.name = flow.name;
  for (const FlowNode& node : flow.nodes) {
    protocol::FlowStep step{node.name, node.problem.application};
    for (const std::string& other : node.after) {
      protocol::FlowLink link{other};
      for (const FlowInput& input : node.inputs)
        if (input.node == other) link.results.push_back(input.result);
      step.after.push_back(std::move(link));
    }
    if (const auto found = refused.find(node.name); found != refused.end())
      step.message = found->second.message;
    plan.nodes.push_back(std::move(step));
  }
  return plan;
}

// The console draws it. The flow runs as well without: an older server does not know the operation.
Status tell_plan(Session& session, Api& api, const Flow& flow, const Problems& refused) {
  const auto told = api.tell_flow(plan_of(flow, refused));
  const auto unknown = [](ErrorKind kind) {
    return kind == ErrorKind::not_found || kind == ErrorKind::forbidden;
  };
  if (told.ok() || unknown(told.error().kind)) return {};
  if (told.error().kind != ErrorKind::invalid && told.error().kind != ErrorKind::too_large)
    return told.error();
  session.people() << "The console cannot draw this flow: " << told.error().message << std::endl;
  return {};
}

// The node cannot be as it is; else nobody can be asked just now.
bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::not_found ||
         error.kind == ErrorKind::too_large || error.kind == ErrorKind::conflict;
}

Result<ExitCode> tell(Session& session, const Flow& flow, const Problems& problems) {
  bool finished = true;
  const auto held = held_up(flow, problems);
  std::vector<Document> nodes;
  for (const FlowNode& node : flow.nodes) {
    const auto found = problems.find(node.name);
    const bool there = found != problems.end();
    finished &= there && found->second.state == ProblemState::finished;
    Document document;
    document.text("name", node.name)
        .text("state", there ? protocol::name_of(found->second.state) : "waiting");
    if (there) document.text("message", found->second.message);
    if (there && found->second.id != ProblemId{}) document.number("problem", found->second.id.value);
    document.json("after", json::write(node.after));
    nodes.push_back(std::move(document));
  }
  if (session.json()) session.print_json(Document().text("flow", flow.name).list("nodes", nodes).render());
  return finished ? ExitCode::ok : ExitCode::failed;
}

Result<Flow> read_flow(Session& session, const FlowOptions& options) {
  TRY_ASSIGN(const Bytes text, session.outside().files.read(options.file, flow_bytes_max));
  return parse_flow(text, options.file);
}

void tell_changes(Session& session, const FlowChanges& changes) {
  for (const auto& [node, what] : changes)
    session.people() << node << ": " << what
                     << ". What it computes is kept; `flow run --again` adds it once more\n";
}

Result<ExitCode> show(Session& session, const FlowOptions& options) {
  TRY_ASSIGN(const Flow flow, read_flow(session, options));
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const Problems problems, find_problems(*api, flow));
  if (!session.json())
    for (const std::string& line : lines_of(flow, problems)) session.people() << line << '\n';
  TRY_ASSIGN(const auto changes, changes_since(session, *api, flow, problems));
  tell_changes(session, changes);
  return tell(session, flow, problems);
}

using Turns = std::map<std::string, int>;  // by node: how often it was added before it is to be once more

// What --again does.
struct Again {
  Turns turns;
  std::vector<ProblemId> retried;    // stopped, and the same problem would be added: what is accepted stays
  std::vector<ProblemId> cancelled;  // they make room for the new ones
};

// Nodes that failed, were cancelled, are stopped or have changed, and those that compute with their results.
Result<Again> nodes_again(Api& api, const Flow& flow, const Problems& problems, const FlowChanges& changes) {
  Again again;
  for (const FlowNode& node : flow.nodes) {
    const auto found = problems.find(node.name);
    if (found == problems.end()) continue;
    const ProblemInfo& problem = found->second;
    const bool changed =
        changes.contains(node.name) || std::ranges::any_of(node.inputs, [&](const FlowInput& input) {
          return again.turns.contains(input.node);
        });
    if (!changed && !blocks(problem)) continue;
    if (!changed && problem.state == ProblemState::stopped) {
      const auto application = api.application(node.problem.application);
      if (application.ok() && problem.application == application->name + "@" + application->version) {
        again.retried.push_back(problem.id);
        continue;
      }
    }
    again.turns[node.name] = turn_of(problem.name, node.problem.name);
    if (!ended(problem.state)) again.cancelled.push_back(problem.id);
  }
  return again;
}

// Without those that are to be added once more.
Result<Problems> present_problems(Api& api, const Flow& flow, const Turns& turns) {
  TRY_ASSIGN(Problems problems, find_problems(api, flow));
  for (const FlowNode& node : flow.nodes) {
    const auto found = problems.find(node.name);
    const auto turn = turns.find(node.name);
    if (found != problems.end() && turn != turns.end() &&
        turn_of(found->second.name, node.problem.name) <= turn->second)
      problems.erase(found);
  }
  return problems;
}

// Looks at all nodes before the first is added, and says what --again would do without it.
Result<Turns> begin(Session& session, Api& api, const Flow& flow, bool once_more) {
  TRY_ASSIGN(Problems problems, find_problems(api, flow));
  TRY_ASSIGN(const auto changes, changes_since(session, api, flow, problems));
  Again again;
  if (once_more) {
    TRY_ASSIGN(again, nodes_again(api, flow, problems, changes));
  } else {
    tell_changes(session, changes);
  }
  for (const auto& [node, turn] : again.turns) problems.erase(node);
  TRY(check_nodes(session, api, flow, problems));
  for (const ProblemId id : again.retried) TRY(api.change_problem(id, "retry"));
  for (const ProblemId id : again.cancelled) TRY(api.change_problem(id, "cancel"));
  return again.turns;
}

// Nothing of it changes any more, unless a person does something.
bool at_rest(const Flow& flow, const Problems& problems) {
  const auto held = held_up(flow, problems);
  for (const FlowNode& node : flow.nodes) {
    const auto found = problems.find(node.name);
    const bool rests = found == problems.end() ? held.contains(node.name)
                                               : ended(found->second.state) || blocks(found->second);
    if (!rests) return false;
  }
  return true;
}

Result<ExitCode> run(Session& session, const FlowOptions& options) {
  TRY_ASSIGN(const Flow flow, read_flow(session, options));
  TRY_ASSIGN(Api* const api, session.api());
  FlowView view(session, flow);
  Problems refused;
  TRY_ASSIGN(Turns turns, begin(session, *api, flow, options.again));
  TRY(tell_plan(session, *api, flow, refused));
  const auto pause = [&]() -> Status {
    session.outside().wait(default_interval(session.people_display()));
    if (!session.outside().interrupted()) return {};
    return Error{ErrorKind::io, "interrupted: added problems continue; the same command adds the rest"};
  };
  for (;;) {
    auto present = present_problems(*api, flow, turns);
    if (!present.ok()) {
      if (!view.outlasts(present.error())) return present.error();
      TRY(pause());
      continue;
    }
    Problems problems = *std::move(present);
    problems.insert(refused.begin(), refused.end());
    for (const FlowNode& node : flow.nodes) {
      if (problems.contains(node.name) || !waits_for(node, problems).empty()) continue;
      auto added = add_node(session, *api, node, problems, turns[node.name]);
      if (!added.ok()) {
        if (!is_refusal(added.error())) return added.error();
        ProblemInfo failed;
        failed.state = ProblemState::failed;
        failed.message = added.error().message;
        added = refused[node.name] = failed;
        TRY(tell_plan(session, *api, flow, refused));
      }
      problems.emplace(node.name, *added);
    }
    view.show(problems);
    if (at_rest(flow, problems)) return tell(session, flow, problems);
    TRY(pause());
  }
}

CLI::App* declare(CLI::App& flows, Action& chosen, const std::string& name, const std::string& help,
                  std::shared_ptr<FlowOptions> options,
                  Result<ExitCode> (*action)(Session&, const FlowOptions&)) {
  CLI::App* command = flows.add_subcommand(name, help);
  command->add_option("flow", options->file, "the flow: apps/GUIDE.md shows one")
      ->required()
      ->type_name("FILE.toml");
  on_parse(command, chosen, options, action);
  return command;
}

}  // namespace

void add_flow_commands(CLI::App& program, Action& chosen) {
  CLI::App* flows = program.add_subcommand("flow", "Run problems that need each other's results");
  flows->require_subcommand(1);
  const auto options = std::make_shared<FlowOptions>();
  CLI::App* running = declare(*flows, chosen, "run",
                              "Add each problem when it can begin, until all are finished", options, run);
  running->add_flag("--again", options->again,
                    "add nodes once more that failed, were cancelled, are stopped or have changed");
  running->footer(
      "The nodes' problems are called FLOW/NODE; one that was added again is FLOW/NODE.2.\n"
      "You may interrupt the command: the same one, on this computer or another, resumes the\n"
      "flow. A failed node stops only the nodes that need it.\n"
      "All nodes are checked before the first is added. Where parameters or files have changed\n"
      "since a node was added, a line says so. With --again it is added once more, as are the\n"
      "nodes that need its results. A stopped node is retried and keeps its accepted items; if\n"
      "the application has another version by now, the node is added once more instead.\n"
      "Exit status: 0 if all nodes are finished, 1 if not.\n\n"
      "Example:\n  gleaner-admin flow run study.toml");
  declare(*flows, chosen, "show", "Show how far it is", std::make_shared<FlowOptions>(), show);
}

}  // namespace gleaner::admin
