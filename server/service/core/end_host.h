// A host leaves, or is revoked. Writer thread only.
#pragma once

#include <string>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// Gives all units of the host back to their stages.
[[nodiscard]] Status give_back_all(Transaction& tx, Host& host, const std::string& reason);
// It left, or was revoked: its units are given back, its token is worth nothing. Hosts under it have left,
// too: each may join again, directly or through another relay.
[[nodiscard]] Status end_host(Transaction& tx, Host& host, protocol::HostState state,
                              const std::string& reason);
// The administrator ends it, for `state_reason`: relays that it is under hear of it.
[[nodiscard]] Status put_out_host(Transaction& tx, Host& host, protocol::HostState state,
                                  std::string state_reason, const std::string& reason);
// Those under it have left; `why`: "has left". It stays.
[[nodiscard]] Status end_hosts_under(Transaction& tx, const Host& relay, const std::string& why);

}  // namespace gleaner::service
