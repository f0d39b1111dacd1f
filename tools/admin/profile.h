// Where the server is, how to know it, and the admin token: from an admin profile (DIR/admin.json or
// DIR/admin/admin.json, as `gleaner-server init DIR` writes it), or given one by one. Thread-compatible.
#pragma once

#include <string>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "tools/admin/outside.h"

namespace gleaner::admin {

// As on the command line; empty: not given.
struct ConnectionOptions {
  std::string project;     // a profile, or a directory with one; else $GLEANER_PROJECT, else "."
  std::string server;      // https://HOST:PORT, instead of the profile's
  std::string join_code;   // address and root fingerprint, instead of the profile's
  std::string token_file;  // instead of the profile's
};

struct Connection {
  std::string url;        // without a slash at the end
  io::Vouchers vouchers;  // the project's root key, or, where nothing names it, the system's authorities
  std::string token;
  io::Path token_file;       // for messages
  std::string tls_key = {};  // of a relay, which is trusted by it; empty: a server
};

// Errors: not_found (no profile: says where it looked), invalid (a file or option is wrong), forbidden
// (others may read the token).
[[nodiscard]] Result<Connection> find_connection(const ConnectionOptions& options, const Outside& outside);

}  // namespace gleaner::admin
