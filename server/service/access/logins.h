// How people log in to the console: by a link that `gleaner-admin console` asks for, or with an admin token.
// Either becomes a session (server/console/sessions.h), which may what its token may, as long as that counts.
// Links and log-ins leave acts. Thread-safe.
#pragma once

#include <string>

#include "server/console/sessions.h"
#include "server/service/core/admin_tokens.h"
#include "server/service/core/kernel.h"
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

  void make_link(const Admin& admin, Done<protocol::ConsoleLink> done);
  // Whom the link or the token stands for. invalid: neither or both; unauthorized: why nobody.
  [[nodiscard]] Result<Admin> identify(const protocol::OpenSession& request);
  // For whom identify() found; a link counts no more then. unauthorized: it was used just now.
  void open(const protocol::OpenSession& request, const Admin& admin, Done<NewSession> done);
  // From memory. unauthorized: there is no such session, or its token counts no more.
  [[nodiscard]] Result<LoggedIn> find(const std::string& secret);
  void close(const std::string& secret) { sessions_.close(secret); }

 private:
  Kernel& kernel_;
  const AdminTokens& tokens_;
  console::Sessions sessions_;
};

}  // namespace gleaner::service
