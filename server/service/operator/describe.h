// What people see of problems, hosts and applications. Writer thread only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/service/core/transaction.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

// Without how many hosts compute it, what it waits for and how far it is.
[[nodiscard]] protocol::ProblemInfo describe(const Problem& problem, Timestamp now);
[[nodiscard]] std::vector<protocol::ProblemInfo> describe_problems(const Model& model, Timestamp now);
// With the shares of the hosts that did most, the results and what failed.
[[nodiscard]] Result<protocol::ProblemInfo> describe_fully(Transaction& tx, const Problem& problem,
                                                           std::ptrdiff_t shares_max);
[[nodiscard]] Error no_problem(ProblemId id);
[[nodiscard]] Error no_host(HostId id);
[[nodiscard]] protocol::HostInfo describe(const Model& model, const Host& host, Timestamp now);
[[nodiscard]] protocol::UnitInfo describe(const Model& model, const storage::Store::UnitPlace& place);
[[nodiscard]] protocol::ApplicationInfo describe(const Application& application);
// With what it declares of its problems' parameters and inputs.
[[nodiscard]] protocol::ApplicationInfo describe_with_form(const Application& application);

}  // namespace gleaner::service
