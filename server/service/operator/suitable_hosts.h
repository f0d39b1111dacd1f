// Which hosts can compute a problem, and why the others cannot, for people. It agrees with policy::fits() as
// far as the server remembers what a host offers. The server does not keep an owner's list of permitted
// applications, which comes with each request. Writer thread. O(hosts).
#pragma once

#include "server/service/core/model.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

[[nodiscard]] protocol::ProblemHosts suitable_hosts(const Model& model, const Problem& problem,
                                                    Timestamp now);

}  // namespace gleaner::service
