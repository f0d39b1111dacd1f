// What joining makes of a host's row and of the model, whichever way it joins. Writer thread only.
#pragma once

#include "server/service/core/transaction.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// invalid: what no host may say of itself.
[[nodiscard]] Status check_request(const protocol::EnrolRequest& request);
// What it says of itself; it is active, and was heard of now. Not how it is known, nor under what.
void fill(storage::HostRow& row, const protocol::EnrolRequest& request, Timestamp now);
// It joined with this code (`known`: which host it was before; null: new): its name, and whether it is a
// relay. Its tags and whether it is the project's own are the code's, unless it joined with that before: then
// they stay what has become of them since.
void join_with(storage::HostRow& row, const storage::CodeRow& code, const protocol::EnrolRequest& request,
               const Host* known);
// An active host's own connection counts no more: its units are given back, its token ends.
[[nodiscard]] Status let_go(Transaction& tx, const Host& known, const std::string& reason);
// Into store and model; a new one gets its number, unless it has one. Hosts under one that is a relay no more
// have left. `copy_of`: as it says; with the name of that one, its own gets its number.
[[nodiscard]] Status store_joined(Transaction& tx, storage::HostRow& row, const Host* known,
                                  std::optional<HostId> copy_of = {});

}  // namespace gleaner::service
