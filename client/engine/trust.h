// What this client believes: the project whose root key its join code pinned, and through it grants,
// applications and acknowledgements. Every check is made anew each time it is asked for; nothing is
// remembered but the project document. Not thread-safe. Errors: untrusted, with the link that broke.
#pragma once

#include <optional>

#include "shared/crypto/statements.h"

namespace gleaner::engine {

struct TrustedGrant {
  protocol::Grant grant;
  protocol::ApplicationStatement application;
};

class Trust {
 public:
  Trust(Bytes root_fingerprint, HostId host) : root_fingerprint_(std::move(root_fingerprint)), host_(host) {}

  [[nodiscard]] Status accept_project(const protocol::SignedStatement& statement, Timestamp now);
  [[nodiscard]] bool knows_project() const { return project_.has_value(); }
  // REQUIRES: knows_project().
  [[nodiscard]] const crypto::ProjectTrust& project() const;

  // The whole chain: join code, project, grant, parameters, application, signer. Without a project:
  // unavailable.
  [[nodiscard]] Result<TrustedGrant> check_grant(const protocol::SignedStatement& statement,
                                                 Timestamp now) const;
  [[nodiscard]] Result<protocol::Acknowledgement> check_acknowledgement(
      const protocol::SignedStatement& statement) const;

 private:
  Bytes root_fingerprint_;
  HostId host_;
  std::optional<crypto::ProjectTrust> project_;
};

}  // namespace gleaner::engine
