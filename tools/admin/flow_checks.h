// Looks at a flow before it adds anything: mistakes of all its nodes, and nodes that were added with other
// parameters or files than they would be now. Errors: invalid (the mistakes), those of the server and of
// files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/admin/flow_file.h"
#include "tools/admin/session.h"

namespace gleaner::admin {

// The nodes' problems, by the nodes' names: of several of a node the newest. Of a node that the server did
// not take a failed one without an id.
using FlowProblems = std::map<std::string, protocol::ProblemInfo>;

// Of one node: an unknown application, wrong parameters, files that cannot be read.
[[nodiscard]] Result<std::vector<Error>> mistakes_of(Session& session, Api& api, const FlowNode& node);
// The same of all, as one error. `there`: nodes that are not to be added.
[[nodiscard]] Status check_nodes(Session& session, Api& api, const Flow& flow, const FlowProblems& there);

// By node what has changed since: "since problem 3 was added, this has changed: runs.csv". Of an older
// server, which does not tell what a problem was added with: nothing.
using FlowChanges = std::map<std::string, std::string>;
[[nodiscard]] Result<FlowChanges> changes_since(Session& session, Api& api, const Flow& flow,
                                                const FlowProblems& problems);

}  // namespace gleaner::admin
