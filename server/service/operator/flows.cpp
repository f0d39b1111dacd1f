#include "server/service/operator/flows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "server/service/core/flows.h"
#include "server/service/operator/describe.h"

namespace gleaner::service {
namespace {

using protocol::ProblemState;

// Whoever needs its results cannot begin, unless a person does something.
bool blocks(ProblemState state) {
  return state == ProblemState::failed || state == ProblemState::cancelled || state == ProblemState::stopped;
}

// Of each node that was added the newest problem: their numbers rise.
std::map<std::string, const Problem*> problems_of(const Model& model, const Flow& flow) {
  std::map<std::string, const Problem*> newest;
  for (const auto& [id, problem] : model.problems)
    if (const auto node = node_of(flow, problem.row.name)) newest[*node] = &problem;
  return newest;
}

protocol::FlowInfo describe(const Model& model, const Flow& flow, Timestamp now) {
  protocol::FlowInfo info = flow.plan;
  const auto problems = problems_of(model, flow);
  std::set<std::string> blocking;
  for (protocol::FlowStep& node : info.nodes) {
    const auto found = problems.find(node.name);
    if (found != problems.end()) {
      const protocol::ProblemInfo problem = describe(*found->second, now);
      node.problem = problem.id;
      node.application = problem.application;
      node.state = protocol::name_of(problem.state);
      node.done = problem.done;
      node.message = problem.message;
      if (blocks(problem.state)) blocking.insert(node.name);
      continue;
    }
    const bool blocked = std::any_of(node.after.begin(), node.after.end(),
                                     [&](const auto& link) { return blocking.contains(link.node); });
    node.state = !node.message.empty() ? "refused" : blocked ? "blocked" : "waiting";
    if (node.state != "waiting") blocking.insert(node.name);
  }
  return info;
}

}  // namespace

void Flows::put(protocol::FlowInfo flow, Done<protocol::FlowInfo> done) {
  if (const Status good = check_flow(flow); !good.ok()) return done(good.error());
  for (protocol::FlowStep& node : flow.nodes) {  // what the server says itself
    node.problem = {};
    node.state.clear();
    node.done = 0;
  }
  kernel_.decide<protocol::FlowInfo>(
      [flow = std::move(flow)](Transaction& tx, Result<protocol::FlowInfo>& info) -> Status {
        TRY(keep_flow(tx, flow));
        // A flow of more nodes than are kept cannot be: FlowInfo::nodes_max is less.
        info = describe(tx.model, tx.model.flows.at(flow.name), tx.now);
        return {};
      },
      std::move(done));
}

void Flows::show(const std::string& name, Done<protocol::FlowInfo> done) {
  kernel_.decide<protocol::FlowInfo>(
      [name](const Transaction& tx, Result<protocol::FlowInfo>& info) -> Status {
        const auto flow = tx.model.flows.find(name);
        if (flow == tx.model.flows.end())
          info = Error{ErrorKind::not_found, "no flow " + name + " here"};
        else
          info = describe(tx.model, flow->second, tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
