// Problems whose results are inputs of one that is to be added (`problem add --after`): a flow of one node,
// of which the others are there already. Errors: invalid (the options), not_found, conflict (an earlier
// problem failed, was cancelled or is stopped), io (interrupted), those of the server.
#pragma once

#include <string>
#include <vector>

#include "tools/admin/commands.h"
#include "tools/admin/flow_checks.h"

namespace gleaner::admin {

// The node: its inputs are files, and results of the problems `after`, ids or names, where an input is
// [NAME=]PROBLEM/RESULT. `problem` is to have its parameters.
[[nodiscard]] Result<FlowNode> node_of(const io::Files& files, const protocol::AddProblem& problem,
                                       ProblemOptions content, const std::vector<std::string>& after);

// Waits, with progress, until all earlier problems are finished. What is wrong with the node itself it tells
// before. Without any it only looks at nothing and returns at once. A server that goes away in between is
// waited for, five minutes long.
[[nodiscard]] Result<FlowProblems> await_earlier(Session& session, Api& api, const FlowNode& node);

}  // namespace gleaner::admin
