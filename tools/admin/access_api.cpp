#include "tools/admin/access_api.h"

namespace gleaner::admin {

Result<std::vector<protocol::TokenInfo>> get_tokens(Api& api) {
  return api.get<std::vector<protocol::TokenInfo>>("/v1/admin/tokens");
}

Result<protocol::MadeToken> add_token(Api& api, const protocol::AddToken& token) {
  // A lost answer had the only copy of it.
  auto made = api.post<protocol::MadeToken>("/v1/admin/tokens", protocol::encode(token), Api::Repeat::no);
  if (!made.ok() && made.error().kind == ErrorKind::unavailable)
    return Error{ErrorKind::unavailable,
                 made.error().message +
                     " (if `gleaner-admin token list` shows it, withdraw it and make one "
                     "of another name)"};
  return made;
}

Result<protocol::TokenInfo> withdraw_token(Api& api, const std::string& name) {
  return api.post<protocol::TokenInfo>("/v1/admin/tokens/" + name + "/withdraw", empty_body,
                                       Api::Repeat::yes);
}

}  // namespace gleaner::admin
