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
  std::string state;  // valid | expired | withdrawn
  Timestamp made_at;
  Timestamp expires_at;      // 0: never
  Timestamp withdrawn_at;    // 0: it is not
  std::string made_by = {};  // the admin token that made it; empty: `init`, or unknown
};

// POST /v1/admin/tokens. A token ends with the one that made it at the latest.
struct AddToken {
  std::string name;  // letters, digits, ".", "_" and "-"
  Role role = Role::view;
  std::int64_t lifetime_seconds = 0;  // 0: for ever
};

// Answer to it. The server keeps no token: it is told this once.
struct MadeToken {
  TokenInfo info;
  std::string token;
};

// POST /v1/admin/tokens/NAME/withdraw.
struct WithdrawToken {
  bool with_made = false;  // the tokens and codes that it made are withdrawn, too, and what those tokens made
};

// A change that somebody made, as the audit log has it for good. Its digest covers all of it
// (shared/crypto/act_chain.h).
struct Act {
  std::int64_t number = 0;  // 1, 2, 3 ...
  Timestamp at;
  std::string actor;     // the admin token's name; "gleaner-server": the program itself
  std::string role;      // "viewer" ... "owner"; "server"
  std::string action;    // "problem pause"
  std::string object;    // its number or name
  std::string summary;   // how it is now
  std::string previous;  // digest of the act before; zeros: it is the first
};

// A place in the chain of acts.
struct ChainPlace {
  std::int64_t number = 0;  // 0: before the first
  std::string digest;       // of that act; of number 0: zeros
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
  std::string subject;  // the code's name; the key as 64 hex digits; "192.0.2.0/24"
  std::string reason;   // the banned are told it
  std::string made_by;  // the admin token's name
  Timestamp made_at;
  Timestamp expires_at;  // 0: never
};

// POST /v1/admin/bans.
struct AddBan {
  BanKind kind = BanKind::network;
  std::string subject;  // as of Ban; of a key also the number of a host that has it
  std::string reason;
  std::int64_t lifetime_seconds = 0;  // 0: for ever
  bool force = false;                 // also a network that the request comes from
};

// POST /v1/admin/bans/KIND/remove.
struct RemoveBan {
  std::string subject;
};

// What was tried and refused, counted.
struct RefusalCount {
  std::string actor;   // whose token it is or was; "unknown": nobody's
  std::string kind;    // unauthorized | forbidden
  std::string action;  // as of Act; "look": nothing would have changed
  std::int64_t times = 0;
  Timestamp first_at;
  Timestamp last_at;
  std::string last_network;  // that it came from
};

// GET /v1/admin/audit?after=NUMBER: a page.
struct AuditPage {
  ChainPlace start;  // the newest of what is not kept any more
  ChainPlace head;
  // A head that the server has noted outside the store: it must be among the acts.
  std::optional<ChainPlace> noted = {};
  std::vector<Act> acts;               // after NUMBER, in order
  std::vector<RefusalCount> refusals;  // all of them, with the first page only
};

}  // namespace gleaner::protocol
