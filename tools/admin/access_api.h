// The operations of the admin API about who may do what, as api.h has the others.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/access_messages.h"
#include "shared/protocol/relay_messages.h"
#include "tools/admin/api.h"

namespace gleaner::admin {

[[nodiscard]] Result<std::vector<protocol::TokenInfo>> get_tokens(Api& api);
[[nodiscard]] Result<protocol::MadeToken> add_token(Api& api, const protocol::AddToken& token);
[[nodiscard]] Result<protocol::TokenInfo> withdraw_token(Api& api, const std::string& name,
                                                         const protocol::WithdrawToken& withdrawal);

[[nodiscard]] Result<std::vector<protocol::RelayInfo>> get_relays(Api& api);
[[nodiscard]] Result<protocol::RelayInfo> set_relay_quota(Api& api, const std::string& name,
                                                          const protocol::RelayQuota& quota);
[[nodiscard]] Result<protocol::MadeCode> add_relay(Api& api, const protocol::AddRelay& relay);

[[nodiscard]] Result<std::vector<protocol::Ban>> get_bans(Api& api);
[[nodiscard]] Result<protocol::Ban> add_ban(Api& api, const protocol::AddBan& ban);
[[nodiscard]] Result<protocol::Ban> remove_ban(Api& api, protocol::BanKind kind, const std::string& subject);
// The audit log as it is now: all pages of it put together, whose acts are in order.
[[nodiscard]] Result<protocol::AuditPage> get_audit_log(Api& api);

}  // namespace gleaner::admin
