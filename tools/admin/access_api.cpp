#include "tools/admin/access_api.h"

#include <iterator>
#include <utility>

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

Result<protocol::TokenInfo> withdraw_token(Api& api, const std::string& name,
                                           const protocol::WithdrawToken& withdrawal) {
  return api.post<protocol::TokenInfo>("/v1/admin/tokens/" + name + "/withdraw", protocol::encode(withdrawal),
                                       Api::Repeat::yes);
}

Result<std::vector<protocol::RelayInfo>> get_relays(Api& api) {
  return api.get<std::vector<protocol::RelayInfo>>("/v1/admin/relays");
}

Result<protocol::RelayInfo> set_relay_quota(Api& api, const std::string& name,
                                            const protocol::RelayQuota& quota) {
  return api.post<protocol::RelayInfo>("/v1/admin/relays/" + name + "/quota", protocol::encode(quota),
                                       Api::Repeat::yes);
}

Result<protocol::MadeCode> add_relay(Api& api, const protocol::AddRelay& relay) {
  // A lost answer had the only copy of the secret.
  return api.post<protocol::MadeCode>("/v1/admin/relays", protocol::encode(relay), Api::Repeat::no);
}

Result<std::vector<protocol::Ban>> get_bans(Api& api) {
  return api.get<std::vector<protocol::Ban>>("/v1/admin/bans");
}

Result<protocol::Ban> add_ban(Api& api, const protocol::AddBan& ban) {
  return api.post<protocol::Ban>("/v1/admin/bans", protocol::encode(ban), Api::Repeat::yes);
}

Result<protocol::Ban> remove_ban(Api& api, protocol::BanKind kind, const std::string& subject) {
  // A second time there is no such ban.
  return api.post<protocol::Ban>(std::string("/v1/admin/bans/") + protocol::name_of(kind) + "/remove",
                                 protocol::encode(protocol::RemoveBan{subject}), Api::Repeat::no);
}

Result<protocol::AuditPage> get_audit_log(Api& api) {
  const auto page_after = [&api](std::int64_t number) {
    return api.get<protocol::AuditPage>("/v1/admin/audit?after=" + std::to_string(number));
  };
  constexpr int tries = 3;  // old acts may go while we read; that happens once in a thousand acts
  for (int i = 0; i < tries; ++i) {
    TRY_ASSIGN(protocol::AuditPage log, page_after(0));
    bool moved = false;
    // A page without acts ends it, whatever the head says.
    while (!moved && !log.acts.empty() && log.acts.back().number < log.head.number) {
      TRY_ASSIGN(protocol::AuditPage page, page_after(log.acts.back().number));
      if (page.acts.empty()) return log;
      moved = page.start.number != log.start.number;
      log.head = page.head;  // acts were perhaps added meanwhile
      std::move(page.acts.begin(), page.acts.end(), std::back_inserter(log.acts));
    }
    if (!moved) return log;
  }
  return Error{ErrorKind::unavailable, "the audit log changes faster than it can be read: try again"};
}

}  // namespace gleaner::admin
