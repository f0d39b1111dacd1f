// What an administrator's request needs, and how the audit log calls it: one place for all of /v1/admin,
// /v1/uploads and /v1/blobs. What is not in it needs an owner. Pure.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/access_messages.h"

namespace gleaner::http {

inline constexpr const char* look = "look";  // changes nothing
struct Permission {
  protocol::Role least = protocol::Role::own;
  std::string act;      // one of few
  bool admits = false;  // makes what admits others and outlives a log-in: for a token, and no session
};
// `pieces`: of the path, as split_path() gives them.
[[nodiscard]] Permission permission_of(const std::string& method, const std::vector<std::string>& pieces);
// forbidden: says which role is needed.
[[nodiscard]] Status check_role(const std::string& name, protocol::Role has, protocol::Role needed);

}  // namespace gleaner::http
