// Plans of flows, as gleaner-admin told them (protocol::FlowInfo), for people who look: no decision depends
// on one. The store's value "flows" has their names, the oldest first, and "flow/NAME" each plan. When all
// together have more than `flows_nodes_kept` nodes the oldest are forgotten. Writer thread, in a
// transaction; errors are the store's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "server/service/core/transaction.h"

namespace gleaner::service {

inline constexpr std::size_t flows_nodes_kept = 20'000;  // some 3 MB

[[nodiscard]] Status load_flows(storage::Store& store, Model& model);
// invalid: a name that no problem can have, or a node that needs one that is not before it.
[[nodiscard]] Status check_flow(const protocol::FlowInfo& flow);
// Instead of the one of that name. REQUIRES: check_flow().
[[nodiscard]] Status keep_flow(Transaction& tx, protocol::FlowInfo flow);

// Which node of the flow a problem of this name is: FLOW/NODE, or FLOW/NODE.2 when it was added again.
[[nodiscard]] std::optional<std::string> node_of(const Flow& flow, const std::string& problem);
// Of the flow to which a problem of this name belongs; empty: none that is known.
[[nodiscard]] std::string flow_of(const Model& model, const std::string& problem);

}  // namespace gleaner::service
