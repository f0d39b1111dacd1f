#include "tools/admin/flow_nodes.h"

#include <algorithm>

#include "tools/admin/figures.h"
#include "tools/admin/transfer.h"
#include "tools/admin/watch.h"

namespace gleaner::admin {
namespace {

using protocol::ProblemInfo;
using protocol::ProblemState;
using Problems = FlowProblems;

constexpr Duration away_max = std::chrono::minutes{5};

bool lost(const ProblemInfo& problem) {
  return problem.state == ProblemState::failed || problem.state == ProblemState::cancelled;
}

Result<protocol::Input> result_of(Api& api, const FlowInput& input, const ProblemInfo& listed) {
  TRY_ASSIGN(const ProblemInfo problem, api.problem(listed.id));
  std::vector<std::string> names;
  for (const protocol::ResultFile& file : problem.results) {
    if (file.name == input.result) return protocol::Input{input.name, file.digest, file.bytes, std::nullopt};
    names.push_back(file.name);
  }
  return Error{ErrorKind::not_found,
               "problem " + problem.name + " has no result " + input.result + ", only " + joined(names)};
}

std::string state_text(const FlowNode& node, const Problems& problems, const std::set<std::string>& held) {
  const auto found = problems.find(node.name);
  if (found == problems.end())
    return (held.contains(node.name) ? "cannot begin without " : "waits for ") + waits_for(node, problems);
  const ProblemInfo& problem = found->second;
  if (problem.id == ProblemId{}) return "refused: " + problem.message;
  std::string text =
      std::string(protocol::name_of(problem.state)) + ", problem " + std::to_string(problem.id.value);
  if (problem.state == ProblemState::running)
    text += ", " + percent_text(fraction_of(problem), 1) + ", " + time_left_text(problem);
  if (!problem.message.empty()) text += ": " + problem.message;
  return text;
}

}  // namespace

bool blocks(const ProblemInfo& problem) {
  return lost(problem) || problem.state == ProblemState::stopped;
}

std::string waits_for(const FlowNode& node, const Problems& problems) {
  for (const std::string& other : node.after) {
    const auto found = problems.find(other);
    if (found == problems.end() || found->second.state != ProblemState::finished) return other;
  }
  return {};
}

std::set<std::string> held_up(const Flow& flow, const Problems& problems) {
  std::set<std::string> held;
  for (const FlowNode& node : flow.nodes) {
    if (problems.contains(node.name)) continue;
    for (const std::string& other : node.after) {
      const auto found = problems.find(other);
      if (held.contains(other) || (found != problems.end() && blocks(found->second))) held.insert(node.name);
    }
  }
  return held;
}

Status add_inputs(Session& session, Api& api, const FlowNode& node, const Problems& problems,
                  std::vector<protocol::Input>& inputs) {
  for (const FlowInput& input : node.inputs) {
    if (!input.node.empty()) {
      TRY_ASSIGN(auto described, result_of(api, input, problems.at(input.node)));
      inputs.push_back(std::move(described));
      continue;
    }
    TRY_ASSIGN(const BlobName blob, blob_of_file(session.outside().files, input.file));
    TransferBar bar(session, "uploading " + input.name);
    TRY(upload_file(api, session.outside().files, input.file, blob, bar.progress()));
    inputs.push_back({input.name, blob.digest, blob.bytes, std::nullopt});
  }
  return {};
}

std::vector<std::string> lines_of(const Flow& flow, const Problems& problems) {
  const auto held = held_up(flow, problems);
  std::size_t width = 0;
  for (const FlowNode& node : flow.nodes) width = std::max(width, node.name.size());
  std::vector<std::string> lines;
  for (const FlowNode& node : flow.nodes)
    lines.push_back(node.name + std::string(width + 2 - node.name.size(), ' ') +
                    state_text(node, problems, held));
  return lines;
}

bool FlowView::outlasts(const Error& error) {
  if (error.kind != ErrorKind::unavailable || session_.outside().clock.steady() - last_seen_ > away_max)
    return false;
  if (session_.people_display().terminal)
    text_.draw({"no answer from the server; trying again"});
  else if (!away_)
    session_.people() << "no answer from the server; trying again" << std::endl;
  away_ = true;
  return true;
}

void FlowView::show(const FlowProblems& problems) {
  last_seen_ = session_.outside().clock.steady();
  away_ = false;
  if (session_.people_display().terminal) return text_.draw(lines_of(flow_, problems));
  for (const FlowNode& node : flow_.nodes) {
    const auto found = problems.find(node.name);
    if (found == problems.end()) continue;
    const auto known = told_.find(node.name);
    if (known != told_.end() && known->second == found->second.state) continue;
    told_[node.name] = found->second.state;
    session_.people() << node.name << ": " << state_text(node, problems, {}) << std::endl;
  }
}

}  // namespace gleaner::admin
