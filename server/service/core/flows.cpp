#include "server/service/core/flows.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

constexpr const char* names_value = "flows";

std::string plan_value(const std::string& name) {
  return "flow/" + name;
}

bool is_flow_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

Flow flow_from(protocol::FlowInfo plan, std::int64_t number) {
  Flow flow{std::move(plan), {}, number};
  for (const auto& node : flow.plan.nodes) flow.nodes.insert(node.name);
  return flow;
}

// The oldest first.
std::vector<const Flow*> by_age(const Model& model) {
  std::vector<const Flow*> flows;
  for (const auto& [name, flow] : model.flows) flows.push_back(&flow);
  std::sort(flows.begin(), flows.end(), [](const Flow* a, const Flow* b) { return a->number < b->number; });
  return flows;
}

// The store has no way to forget a value: an empty one is none.
Status forget_oldest(Transaction& tx) {
  std::size_t nodes = 0;
  for (const auto& [name, flow] : tx.model.flows) nodes += flow.plan.nodes.size();
  for (const Flow* flow : by_age(tx.model)) {
    if (nodes <= flows_nodes_kept) break;
    nodes -= flow->plan.nodes.size();
    const std::string name = flow->plan.name;
    TRY(tx.store.set_value(plan_value(name), ""));
    tx.model.flows.erase(name);
  }
  return {};
}

}  // namespace

Status load_flows(storage::Store& store, Model& model) {
  TRY_ASSIGN(const auto text, store.get_value(names_value));
  std::istringstream names(text.value_or(""));
  std::int64_t number = 0;
  for (std::string name; names >> name;) {
    TRY_ASSIGN(const auto stored, store.get_value(plan_value(name)));
    auto plan = protocol::decode<protocol::FlowInfo>(stored.value_or(""));
    // One that cannot be read is not drawn: nothing else depends on it.
    if (plan.ok()) model.flows[name] = flow_from(std::move(*plan), ++number);
  }
  return {};
}

Status check_flow(const protocol::FlowInfo& flow) {
  if (!is_flow_name(flow.name))
    return Error{ErrorKind::invalid, "name: expected letters, digits, '-' and '_'"};
  std::set<std::string> before;
  for (const auto& node : flow.nodes) {
    if (!is_flow_name(node.name))
      return Error{ErrorKind::invalid, "nodes: a name: expected letters, digits, '-' and '_'"};
    for (const auto& link : node.after)
      if (!before.contains(link.node))
        return Error{ErrorKind::invalid,
                     "nodes: " + node.name + " needs " + link.node + ", which is not before it"};
    if (!before.insert(node.name).second)
      return Error{ErrorKind::invalid, "nodes: there are two named " + node.name};
  }
  return {};
}

Status keep_flow(Transaction& tx, protocol::FlowInfo flow) {
  const std::string name = flow.name;
  const auto flows = by_age(tx.model);
  const std::int64_t number = flows.empty() ? 1 : flows.back()->number + 1;
  TRY(tx.store.set_value(plan_value(name), protocol::encode(flow)));
  tx.model.flows[name] = flow_from(std::move(flow), number);
  TRY(forget_oldest(tx));
  std::string names;
  for (const Flow* each : by_age(tx.model)) names += each->plan.name + " ";
  return tx.store.set_value(names_value, names);
}

std::optional<std::string> node_of(const Flow& flow, const std::string& problem) {
  const std::string start = flow.plan.name + "/";
  if (!problem.starts_with(start)) return std::nullopt;
  std::string node = problem.substr(start.size());
  const auto point = node.find('.');
  if (point != std::string::npos &&
      (point + 1 == node.size() || node.find_first_not_of("0123456789", point + 1) != std::string::npos))
    return std::nullopt;
  node.resize(std::min(point, node.size()));
  return flow.nodes.contains(node) ? std::optional(std::move(node)) : std::nullopt;
}

std::string flow_of(const Model& model, const std::string& problem) {
  const auto slash = problem.find('/');
  if (slash == std::string::npos) return {};
  const auto flow = model.flows.find(problem.substr(0, slash));
  return flow != model.flows.end() && node_of(flow->second, problem) ? flow->first : std::string();
}

}  // namespace gleaner::service
