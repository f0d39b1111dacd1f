#include "tools/admin/problem_after.h"

#include <algorithm>
#include <set>

#include "shared/base/limits.h"
#include "tools/admin/figures.h"
#include "tools/admin/flow_nodes.h"
#include "tools/admin/progress.h"
#include "tools/admin/watch.h"

namespace gleaner::admin {
namespace {

// [NAME=]PROBLEM/RESULT of one of the problems; nothing: a file.
std::optional<FlowInput> result_in(const std::string& text, const std::vector<std::string>& after) {
  const std::size_t equals = text.find('=');
  const std::string source = equals == std::string::npos ? text : text.substr(equals + 1);
  const std::size_t slash = source.rfind('/');
  if (slash == std::string::npos || std::ranges::find(after, source.substr(0, slash)) == after.end())
    return std::nullopt;
  FlowInput input;
  input.node = source.substr(0, slash);
  input.result = source.substr(slash + 1);
  input.name = equals == std::string::npos ? input.result : text.substr(0, equals);
  return input;
}

// What has become of an earlier problem without whose results there is nothing to begin with.
Error held_up_by(const std::string& called, const protocol::ProblemInfo& problem) {
  const std::string id = std::to_string(problem.id.value);
  std::string text = "nothing was added, because problem " + called + " ";
  switch (problem.state) {
    case protocol::ProblemState::failed:
      text += "failed";
      break;
    case protocol::ProblemState::cancelled:
      text += "was cancelled";
      break;
    default:
      text += "is stopped";
  }
  if (!problem.message.empty()) text += ": " + problem.message;
  if (problem.state != protocol::ProblemState::cancelled)
    text += ". Retry it with `gleaner-admin problem retry " + id + "`, then repeat this command";
  return {ErrorKind::conflict, text};
}

}  // namespace

Result<FlowNode> node_of(const io::Files& files, const protocol::AddProblem& problem, ProblemOptions content,
                         const std::vector<std::string>& after) {
  FlowNode node;
  node.name = problem.name.empty() ? problem.application : problem.name;
  node.problem = problem;
  node.after = after;
  std::sort(node.after.begin(), node.after.end());
  node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
  const auto take = [&](const std::string& text) {
    auto input = result_in(text, node.after);
    if (input) node.inputs.push_back(*std::move(input));
    return input.has_value();
  };
  std::erase_if(content.inputs, take);
  if (!content.table.empty() && take("table.csv=" + content.table)) content.table.clear();
  std::set<std::string> names;
  for (const FlowInput& input : node.inputs) {
    TRY(check_result_name(input.name));
    if (!names.insert(input.name).second)
      return Error{ErrorKind::invalid, "input " + input.name + " is given twice"};
  }
  TRY_ASSIGN(const auto more, parse_inputs(files, content));
  for (const NamedFile& file : more) {
    if (!names.insert(file.name).second)
      return Error{ErrorKind::invalid, "input " + file.name + " is given twice"};
    node.inputs.push_back({file.name, {}, {}, file.path});
  }
  return node;
}

Result<FlowProblems> await_earlier(Session& session, Api& api, const FlowNode& node) {
  FlowProblems problems;
  if (node.after.empty()) return problems;
  Flow flow;
  for (const std::string& each : node.after) {
    TRY_ASSIGN(problems[each], find_problem(api, each));
    FlowNode earlier;
    earlier.name = each;
    flow.nodes.push_back(std::move(earlier));
  }
  flow.nodes.push_back(node);
  TRY(check_nodes(session, api, flow, problems));
  FlowView view(session, flow);
  for (;;) {
    view.show(problems);
    for (const auto& [name, problem] : problems)
      if (blocks(problem)) return held_up_by(name, problem);
    if (waits_for(node, problems).empty()) return problems;
    session.outside().wait(default_interval(session.people_display()));
    if (session.outside().interrupted())
      return Error{ErrorKind::io, "interrupted: nothing was added; the same command waits again"};
    for (auto& [name, problem] : problems) {
      if (ended(problem.state)) continue;
      TRY_ASSIGN(problem, api.problem(problem.id));
    }
  }
}

}  // namespace gleaner::admin
