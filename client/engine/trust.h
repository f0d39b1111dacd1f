// What this client believes: the project whose root key its join code pinned, and through it grants,
// applications and acknowledgements. Every check is made anew each time it is asked for; nothing is
// remembered but the project document, and the newest revocation list of the root key, which only ever gives
// way to a newer one. Not thread-safe. Errors: untrusted, with the link that broke; unavailable: there is no
// project document that holds.
#pragma once

#include <optional>

#include "client/engine/granted.h"
#include "shared/crypto/statements.h"

namespace gleaner::engine {

struct TrustedGrant {
  protocol::Grant grant;
  protocol::ApplicationStatement application;
  Bytes work_key = {};  // of the project, at present
};

class Trust {
 public:
  // `seen`: the newest list that was ever seen of the project.
  Trust(Bytes root_fingerprint, HostId host, crypto::Revocations seen = {})
      : root_fingerprint_(std::move(root_fingerprint)), host_(host), revocations_(std::move(seen)) {}

  // A document that is refused leaves no project: nothing is believed before one holds. Its list is taken if
  // the root key signed it and it is newer, whatever the rest of the document is like.
  [[nodiscard]] Status accept_project(const protocol::SignedStatement& statement, Timestamp now);
  // The server said that its newest list has this number (0: that there is none). True: a newer one than is
  // known here, which must be fetched. An older one than was seen leaves no project.
  [[nodiscard]] bool hear_of_revocations(std::int64_t number);
  [[nodiscard]] bool knows_project() const { return project_.has_value(); }
  // REQUIRES: knows_project().
  [[nodiscard]] const crypto::ProjectTrust& project() const;
  [[nodiscard]] const crypto::Revocations& revocations() const { return revocations_; }

  // Is it the work key of the project document, or a former one? REQUIRES: knows_project().
  [[nodiscard]] bool knows_work_key(std::string_view key) const;

  // Its certificate of the project's work key is over: the project may have another by now, of the same key.
  // REQUIRES: knows_project().
  [[nodiscard]] bool work_certificate_expired(Timestamp now) const;
  // Is a certificate that the unit needs not valid yet, by this computer's clock? Then the clock is wrong.
  // REQUIRES: knows_project().
  [[nodiscard]] bool clock_is_early(const Granted& granted, Timestamp now) const;

  // The whole chain: join code, project, grant, parameters, application, signer; of a relay's grant also its
  // lease, up to the project's grant (crypto/relay_chain.h). Without a project: unavailable.
  [[nodiscard]] Result<TrustedGrant> check_grant(const Granted& granted, Timestamp now) const;
  // Nothing of it is on the list: neither what signed it, nor a relay of its lease, nor its application.
  [[nodiscard]] Status check_not_revoked(const Granted& granted, const protocol::Grant& grant) const;
  [[nodiscard]] Result<protocol::Acknowledgement> check_acknowledgement(
      const protocol::SignedStatement& statement) const;

 private:
  Bytes root_fingerprint_;
  HostId host_;
  crypto::Revocations revocations_;
  std::optional<crypto::ProjectTrust> project_;
};

}  // namespace gleaner::engine
