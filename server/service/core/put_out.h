// Hosts that an administrator put out while they were under relays: each relay on the way hears it with its
// next reply, ends what the host has, and the reply says it again until the relay has said that the host has
// left (subtree.h). At the project's server, and at each relay for the relays under it. Writer thread, in a
// transaction; errors are the store's.
#pragma once

#include <optional>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

[[nodiscard]] Status load_put_out(storage::Store& store, Model& model);
// Before the host is ended: its relay is to hear of it. Of one that is under none: nothing.
[[nodiscard]] Status note_put_out(Transaction& tx, HostId host);
// It came back.
[[nodiscard]] Status forget_put_out(Transaction& tx, HostId host);
// `relay` says that it has left. Whether that was waited for.
[[nodiscard]] Result<bool> settle_put_out(Transaction& tx, HostId relay, HostId host);
// The relay is one no more: whoever was to hear of it hears no more.
[[nodiscard]] Status forget_relay_of_put_out(Transaction& tx, HostId relay);

// For a reply to the relay, as many as it takes; absent: there is nobody.
[[nodiscard]] std::optional<std::vector<HostId>> put_out_under(const Model& model, HostId relay);
}  // namespace gleaner::service
