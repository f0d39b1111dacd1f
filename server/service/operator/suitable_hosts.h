// Which hosts can compute a problem, and why the others cannot: for people. What they are told agrees with
// policy::fits(), as far as the server remembers what a host offers: an owner's list of permitted
// applications and a limit on memory come with each request and are not kept. Writer thread. O(hosts).
#pragma once

#include "server/service/core/model.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

[[nodiscard]] protocol::ProblemHosts suitable_hosts(const Model& model, const Problem& problem,
                                                    Timestamp now);

}  // namespace gleaner::service
