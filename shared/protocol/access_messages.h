// What administrators may do with a project, and who they are: /v1/admin/tokens. What they did:
// /v1/admin/audit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::protocol {

// What an admin token may do; each may what those before it may.
enum class Role : int {
  view = 1,     // "viewer": see everything, change nothing
  operate = 2,  // "operator": problems, applications, hosts and enrolment codes
  own = 3,      // "owner": admin tokens, too
};
[[nodiscard]] const char* name_of(Role role);

// GET /v1/admin/tokens.
struct TokenInfo {
  std::string name;
  Role role = Role::view;
  std::string state;
  Timestamp made_at;
  Timestamp expires_at;
  Timestamp withdrawn_at;  // 0: it is not
  std::string made_by = {};
};

// POST /v1/admin/tokens. A token ends with the one that made it at the latest.
struct AddToken {
  std::string name;
  Role role = Role::view;
  std::int64_t lifetime_seconds = 0;
};

// Answer to it. The server keeps no token: it is told this once.
struct MadeToken {
  TokenInfo info;
  std::string token;
};

// POST /v1/admin/tokens/NAME/withdraw.
struct WithdrawToken {
  bool with_made = false;
};

// A change that somebody made, as the audit log has it for good. Its digest covers all of it
// (shared/crypto/act_chain.h).
struct Act {
  std::int64_t number = 0;  // 1, 2, 3 ...
  Timestamp at;
  std::string actor;
  std::string role;
  std::string action;
  std::string object;
  std::string summary;
  std::string previous;
};

// A place in the chain of acts.
struct ChainPlace {
  std::int64_t number = 0;
  std::string digest;  // of that act; of number 0: zeros
};

// Who is kept out, and why.
enum class BanKind : int {
  code = 1,     // an enrolment code, which is withdrawn, and the keys of its hosts
  key = 2,      // a host's key
  network = 3,  // an address or a network of such
};
[[nodiscard]] const char* name_of(BanKind kind);

// GET /v1/admin/bans.
struct Ban {
  BanKind kind = BanKind::network;
  std::string subject;
  std::string reason;
  std::string made_by;
  Timestamp made_at;
  Timestamp expires_at;
};

// POST /v1/admin/bans.
struct AddBan {
  BanKind kind = BanKind::network;
  std::string subject;
  std::string reason;
  std::int64_t lifetime_seconds = 0;
  bool force = false;
};

// POST /v1/admin/bans/KIND/remove.
struct RemoveBan {
  std::string subject;
};

// What was tried and refused, counted.
struct RefusalCount {
  std::string actor;
  std::string kind;
  std::string action;
  std::int64_t times = 0;
  Timestamp first_at;
  Timestamp last_at;
  std::string last_network;
};

// GET /v1/admin/audit?after=NUMBER: a page.
struct AuditPage {
  ChainPlace start;
  ChainPlace head;
  std::optional<ChainPlace> noted = {};
  std::vector<Act> acts;
  std::vector<RefusalCount> refusals;
};

}  // namespace gleaner::protocol
