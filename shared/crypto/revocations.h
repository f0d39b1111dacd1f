// What a project's root key has taken back: keys, applications and versions that nobody may use any more,
// whoever vouches for them. A list is good by the root key's signature alone, from wherever it comes. Values;
// thread-safe. Errors are ErrorKind::untrusted and name what is revoked, why, and what to do.
#pragma once

#include <memory>
#include <string_view>

#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::crypto {

// Negative, zero or positive, as `a` is lower, equal or higher. Parts between dots are compared as numbers
// where both are numbers, else as text, and what lacks a part is lower; what follows a "-" makes a version
// lower than the same without it, what follows a "+" counts last (the order of Semantic Versioning 2.0.0,
// but for "+", which is ignored there).
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b);

class Revocations {
 public:
  Revocations() = default;  // nothing was ever revoked
  // Of the project whose root key has this fingerprint (32 raw bytes).
  [[nodiscard]] static Result<Revocations> from(const protocol::SignedStatement& statement,
                                                std::string_view root_fingerprint);

  // 0: there is no list.
  [[nodiscard]] std::int64_t number() const { return content_ ? content_->list.number : 0; }
  // REQUIRES, both: number() > 0.
  [[nodiscard]] const protocol::RevocationList& list() const { return content_->list; }
  [[nodiscard]] const protocol::SignedStatement& statement() const { return content_->statement; }

  // `what`: "work key" or "signer".
  [[nodiscard]] Status check_key(std::string_view key, std::string_view what) const;
  // `digest`: of its SubjectPublicKeyInfo (tls_identity.h).
  [[nodiscard]] Status check_tls_key(std::string_view digest) const;
  [[nodiscard]] Status check_application(const protocol::ApplicationStatement& application) const;
  // The signer of an application, and what it signed; its signatures are not looked at.
  [[nodiscard]] Status check_signed_application(const protocol::SignedStatement& application) const;

 private:
  struct Content {
    protocol::RevocationList list;
    protocol::SignedStatement statement;
  };
  std::shared_ptr<const Content> content_;
};

// The list that a project document brings, none if it brings none; nothing else of the document is looked at.
[[nodiscard]] Result<Revocations> revocations_in(const protocol::SignedStatement& document,
                                                 std::string_view root_fingerprint);

}  // namespace gleaner::crypto
