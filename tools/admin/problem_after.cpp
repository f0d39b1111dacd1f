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

// PROBLEM/RESULT of one of the problems.
std::optional<FlowInput> result_at(const std::string& source, const std::vector<std::string>& after) {
  const std::size_t slash = source.rfind('/');
  if (slash == std::string::npos || std::ranges::find(after, source.substr(0, slash)) == after.end())
    return std::nullopt;
  FlowInput input;
  input.node = source.substr(0, slash);
  input.name = input.result = source.substr(slash + 1);
  return input;
}

// [NAME=]PROBLEM/RESULT of one of the problems; nothing: a file. A problem's name may have equals signs.
std::optional<FlowInput> result_in(const std::string& text, const std::vector<std::string>& after) {
  if (auto input = result_at(text, after)) return input;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  auto input = result_at(text.substr(equals + 1), after);
  if (input) input->name = text.substr(0, equals);
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

// Of an input that is no file: it may be meant as a result.
Status check_is_file(const io::Files& files, const io::Path& path) {
  const io::Path parent = path.parent_path();
  if (parent.empty() || path.is_absolute() || files.exists(path) || files.exists(parent)) return {};
  return Error{ErrorKind::not_found, "there is no file " + path.string() + ": to take a result of problem " +
                                         parent.string() + ", say --after " + parent.string()};
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
  std::string wrong;  // the first that is not well formed
  const auto take = [&](const std::string& text) {
    auto input = result_in(text, node.after);
    if (!input) return false;
    if (wrong.empty() && (input->result.empty() || !check_result_name(input->name).ok())) wrong = text;
    node.inputs.push_back(*std::move(input));
    return true;
  };
  std::erase_if(content.inputs, take);
  if (!content.table.empty()) {
    if (auto table = result_at(content.table, node.after)) {
      if (table->result.empty()) wrong = content.table;
      table->name = "table.csv";
      node.inputs.push_back(*std::move(table));
      content.table.clear();
    }
  }
  if (!wrong.empty())
    return Error{ErrorKind::invalid,
                 "\"" + wrong + "\" is not [NAME=]PROBLEM/RESULT with a plain file name as NAME"};
  std::set<std::string> names;
  for (const FlowInput& input : node.inputs) {
    if (!names.insert(input.name).second)
      return Error{ErrorKind::invalid, "input " + input.name + " is given twice"};
  }
  TRY_ASSIGN(const auto more, parse_inputs(files, content));
  for (const NamedFile& file : more) {
    TRY(check_is_file(files, file.path));
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
  TRY_ASSIGN(const auto mistakes, mistakes_of(session, api, node));
  std::string text;
  for (const Error& each : mistakes) text += each.message + "\n";
  if (!mistakes.empty()) return Error{mistakes.front().kind, text + "Nothing was added"};
  FlowView view(session, flow);
  const auto look = [&]() -> Status {
    for (auto& [name, problem] : problems) {
      if (ended(problem.state)) continue;
      TRY_ASSIGN(problem, api.problem(problem.id));
    }
    return {};
  };
  Status seen;
  for (;;) {
    if (seen.ok()) {
      view.show(problems);
      for (const auto& [name, problem] : problems)
        if (blocks(problem)) return held_up_by(name, problem);
      if (waits_for(node, problems).empty()) return problems;
    } else if (!view.outlasts(seen.error())) {
      return seen.error().within("nothing was added");
    }
    session.outside().wait(default_interval(session.people_display()));
    if (session.outside().interrupted())
      return Error{ErrorKind::io, "interrupted: nothing was added; the same command waits again"};
    seen = look();
  }
}

}  // namespace gleaner::admin
