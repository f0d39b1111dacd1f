// How people log in to the console: by a link that `gleaner-admin console` asks for, or with an admin token.
// Either becomes a session (server/console/sessions.h), which may what its token may, as long as that counts.
// Links and log-ins leave acts, so that no token makes more of them than a person does. Thread-safe.
#pragma once

#include <string>

#include "server/console/sessions.h"
#include "server/service/core/admin_tokens.h"
#include "server/service/core/kernel.h"
#include "server/service/core/network_buckets.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

// Who is logged in.
struct LoggedIn {
  Admin admin;
  std::string guard;
};

struct NewSession {
  std::string secret;  // for the cookie
  LoggedIn who;
};

class Logins {
 public:
  Logins(Kernel& kernel, const AdminTokens& tokens) : kernel_(kernel), tokens_(tokens) {}

  // unavailable: this token's were too many.
  void make_link(const Admin& admin, Done<protocol::ConsoleLink> done);
  // Whom the link or the token stands for. invalid: neither or both; unauthorized: why nobody.
  [[nodiscard]] Result<Admin> identify(const protocol::OpenSession& request);
  // For whom identify() found; a link counts no more then. unauthorized: it was used just now; unavailable:
  // as above.
  void open(const protocol::OpenSession& request, const Admin& admin, Done<NewSession> done);
  // From memory. unauthorized: there is no such session, or its token counts no more.
  [[nodiscard]] Result<LoggedIn> find(const std::string& secret);
  void close(const std::string& secret) { sessions_.close(secret); }

 private:
  [[nodiscard]] Status may_log_in(const Admin& admin);

  Kernel& kernel_;
  const AdminTokens& tokens_;
  console::Sessions sessions_;
  NetworkBuckets acts_{60, 240};  // by the token's name; a script that looks each minute takes links, too
};

}  // namespace gleaner::service
