// What administrators may do with a project, and who they are: /v1/admin/tokens.
#pragma once

#include <cstdint>
#include <string>

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
  Timestamp expires_at;    // 0: never
  Timestamp withdrawn_at;  // 0: it is not
};

// POST /v1/admin/tokens.
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

}  // namespace gleaner::protocol
