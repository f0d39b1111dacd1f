#include "tools/admin/flow_checks.h"

#include <algorithm>

#include "shared/bundle/problem_form.h"
#include "shared/json/text.h"
#include "tools/admin/figures.h"
#include "tools/admin/transfer.h"

namespace gleaner::admin {
namespace {

bundle::ProblemForm form_of(const protocol::ApplicationInfo& application) {
  using bundle::ParameterType;
  bundle::ProblemForm form;
  for (const protocol::ParameterInfo& each : application.parameters) {
    ParameterType type = ParameterType::json;
    for (const auto known : {ParameterType::integer, ParameterType::number, ParameterType::boolean,
                             ParameterType::text, ParameterType::choice})
      if (each.type == bundle::name_of(known)) type = known;
    form.parameters.push_back({each.name, type, each.meaning, each.default_value, each.required, each.low,
                               each.high, each.length, each.choices});
  }
  for (const protocol::InputInfo& each : application.inputs)
    form.inputs.push_back({each.name, each.meaning, each.required});
  return form;
}

// What the input's file, or the other node's result, is now. Empty: another computer has the file, or the
// result is being computed again.
std::string digest_of(const io::Files& files, const FlowInput& input, const FlowProblems& known) {
  if (input.node.empty()) {
    const auto blob = blob_of_file(files, input.file);
    return blob.ok() ? blob->digest : "";
  }
  const auto other = known.find(input.node);
  if (other == known.end()) return {};
  const auto& results = other->second.results;
  const auto found = std::ranges::find(results, input.result, &protocol::ResultFile::name);
  return found == results.end() ? "" : found->digest;
}

}  // namespace

Result<std::vector<Error>> mistakes_of(Session& session, Api& api, const FlowNode& node) {
  std::vector<Error> mistakes;
  std::vector<std::string> names;
  for (const FlowInput& input : node.inputs) {
    names.push_back(input.name);
    if (!input.node.empty()) continue;
    if (const auto read = session.outside().files.read_range(input.file, 0, 1); !read.ok())
      mistakes.push_back(read.error());
  }
  const auto application = api.application(node.problem.application);
  if (!application.ok()) {
    if (application.error().kind != ErrorKind::not_found) return application.error();
    mistakes.push_back(application.error());
    return mistakes;
  }
  const auto parameters = json::parse_or_null(node.problem.parameters);
  if (const Status good = bundle::check_problem(form_of(*application), parameters, names); !good.ok())
    mistakes.push_back(good.error());
  return mistakes;
}

Status check_nodes(Session& session, Api& api, const Flow& flow, const FlowProblems& there) {
  std::string text;
  for (const FlowNode& node : flow.nodes) {
    if (there.contains(node.name)) continue;
    TRY_ASSIGN(const auto mistakes, mistakes_of(session, api, node));
    for (const Error& each : mistakes) text += "node " + node.name + ": " + each.message + "\n";
  }
  if (text.empty()) return {};
  return Error{ErrorKind::invalid, text + "Nothing was added"};
}

Result<FlowChanges> changes_since(Session& session, Api& api, const Flow& flow,
                                  const FlowProblems& problems) {
  FlowChanges changes;
  FlowProblems known;  // with their results
  for (const FlowNode& node : flow.nodes) {
    const auto listed = problems.find(node.name);
    if (listed == problems.end()) continue;
    TRY_ASSIGN(const protocol::ProblemInfo problem, api.problem_with_inputs(listed->second.id));
    known[node.name] = problem;
    if (problem.parameters.empty()) continue;
    std::vector<std::string> changed;
    if (json::parse_or_null(problem.parameters) != json::parse_or_null(node.problem.parameters))
      changed.emplace_back("its parameters");
    for (const FlowInput& input : node.inputs) {
      const std::string digest = digest_of(session.outside().files, input, known);
      const auto then = std::ranges::find(problem.inputs, input.name, &protocol::Input::name);
      if (!digest.empty() && (then == problem.inputs.end() || then->digest != digest))
        changed.push_back(input.node.empty() ? input.file.string() : input.node + "/" + input.result);
    }
    if (!changed.empty())
      changes[node.name] = "since problem " + std::to_string(problem.id.value) +
                           " was added, this has changed: " + joined(changed);
  }
  return changes;
}

}  // namespace gleaner::admin
