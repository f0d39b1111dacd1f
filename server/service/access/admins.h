// Administrators: who they are, and the tokens that owners make for others. A token has a name, a role and
// perhaps an end; it is shown once, when it is made, and the store has its digest.
//
// It knows which token made it: one that expires makes none that lasts longer, and whoever withdraws one can
// withdraw what it made as well.
//
// The token "project" is that of admin/token, as `init` makes it: an owner. Whatever that file says at a
// start counts, unless just that token was withdrawn; so who has the server's files is never locked out.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/admin_tokens.h"
#include "server/service/core/kernel.h"
#include "server/service/core/network_buckets.h"
#include "shared/protocol/access_messages.h"

namespace gleaner::service {

inline constexpr const char* project_token = "project";
// At each start, before the model is read: the project's token as its file says.
[[nodiscard]] Status store_project_token(storage::Store& store, const ProjectSecrets& secrets,
                                         protocol::Role role, Timestamp now);

class Admins {
 public:
  Admins(Kernel& kernel, const AdminTokens& tokens) : kernel_(kernel), tokens_(tokens) {}

  // From memory. unauthorized: why not.
  [[nodiscard]] Result<Admin> authenticate(const std::string& token) const;

  // Whose it is or was; empty: nobody's.
  [[nodiscard]] std::string owner_of(const std::string& token) const { return tokens_.owner_of(token); }

  // One more wrong token came from `network`. unavailable: too many did, and no more of them is looked at. A
  // right one always counts: who shares an address with a vandal is not locked out, and a token has 256 bits.
  [[nodiscard]] Status note_wrong_token(const std::string& network);

  void list(Done<std::vector<protocol::TokenInfo>> done);
  // By the actor of `done`, whose token it does not outlive. conflict: there was one of this name.
  void add(protocol::AddToken request, Done<protocol::MadeToken> done);
  // It counts no more. Withdrawing it again is no mistake. conflict: no owner without an end would be left.
  void withdraw(const std::string& name, protocol::WithdrawToken request, Done<protocol::TokenInfo> done);

 private:
  Kernel& kernel_;
  const AdminTokens& tokens_;
  NetworkBuckets wrong_tokens_{30, 120};  // a script with an old token is slowed down, a person is not
};

}  // namespace gleaner::service
