// The parent's side of a relay: what its stage, a server's or another relay's, does with a relay's message.
// Pure.
#pragma once

#include <vector>

#include "server/policy/journal/recorded_stage.h"
#include "server/policy/relay/messages.h"

namespace gleaner::policy {

struct RelayServed {
  RelayReply reply;
  std::vector<Range> accepted;  // items that it is the first to bring
};

// `held`: units that the relay has, as the caller remembers; what it asks without naming is free again (an
// answer was lost), what it is granted is added. `unit`: an unused id. `more_may_come`: this stage is a
// relay's, too, and more may come from above.
[[nodiscard]] RelayServed serve_relay(RecordedStage& stage, HostId relay, const RelayMessage& message,
                                      std::vector<UnitId>& held, UnitId unit, bool more_may_come,
                                      Timestamp now, Changes& changes);

}  // namespace gleaner::policy
