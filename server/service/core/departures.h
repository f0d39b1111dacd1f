// Hosts that left a relay, until its parent has heard of it. Writer thread, in a transaction.
#pragma once

#include <set>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

[[nodiscard]] Result<std::set<HostId>> stored_departures(storage::Store& store);
[[nodiscard]] Status store_departures(storage::Store& store, const std::set<HostId>& hosts);
// A host that is no more under this relay: its parent is still to hear it. At the server: nothing.
[[nodiscard]] Status note_departure(Transaction& tx, HostId host);
// It is under this relay again.
[[nodiscard]] Status forget_departure(Transaction& tx, HostId host);
// The parent said it of them. `gone`: those that are here no more, of whom the parent is to hear that
// (Subtree::departed()); of the others a relay under this one is to say it first.
[[nodiscard]] Status take_put_out(Transaction& tx, const std::vector<HostId>& hosts,
                                  std::vector<HostId>& gone);

}  // namespace gleaner::service
