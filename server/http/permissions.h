// What an administrator's request needs: one place for all of /v1/admin, /v1/uploads and /v1/blobs. What is
// not in it needs an owner. Pure.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/access_messages.h"

namespace gleaner::http {

// `pieces`: of the path, as split_path() gives them.
[[nodiscard]] protocol::Role least_role(const std::string& method, const std::vector<std::string>& pieces);
// forbidden: says which role is needed.
[[nodiscard]] Status check_role(const std::string& name, protocol::Role has, protocol::Role needed);

}  // namespace gleaner::http
