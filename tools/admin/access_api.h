// The operations of the admin API about who may do what, as api.h has the others.
#pragma once

#include <string>
#include <vector>

#include "shared/protocol/access_messages.h"
#include "tools/admin/api.h"

namespace gleaner::admin {

[[nodiscard]] Result<std::vector<protocol::TokenInfo>> get_tokens(Api& api);
[[nodiscard]] Result<protocol::MadeToken> add_token(Api& api, const protocol::AddToken& token);
[[nodiscard]] Result<protocol::TokenInfo> withdraw_token(Api& api, const std::string& name);

}  // namespace gleaner::admin
