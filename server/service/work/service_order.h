// Which of the hosts that wait at a relay gets what has come. Writer thread only.
// [server/policy/relay/RELAYS.md, "Service order"]
#pragma once

#include <cstddef>
#include <vector>

#include "server/service/core/transaction.h"
#include "server/service/work/waiting_requests.h"
#include "shared/planning/serving.h"

namespace gleaner::service {

// At most, of a host: half of transport::control_timeout. A relay that is told to stop waits for its answer.
inline constexpr Duration longest_wait = std::chrono::seconds{15},
                          longest_wait_of_relay = std::chrono::seconds{5};

// How long it is to wait: it got nothing, has nothing, and something may come from above. 0: not at all.
[[nodiscard]] Duration wait_of(const Transaction& tx, const Host& host, const protocol::WorkRequest& request,
                               const WorkOutcome& outcome);

struct EndedWait {
  std::size_t place = 0;  // among those that wait
  WorkOutcome outcome;
};
// Of those whose wait is over: they got something, nothing more may come, or their time is up.
[[nodiscard]] Status serve_waiting(Transaction& tx, planning::ServingRule& rule,
                                   const std::vector<WaitingRequest>& waiting, SteadyTime now,
                                   std::vector<EndedWait>& ended);

}  // namespace gleaner::service
