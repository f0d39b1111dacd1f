// Signed statements and the chain of trust: root key -> work key, root key -> signer keys; work key ->
// project document, grants, acknowledgements; signer key -> applications. Errors are ErrorKind::untrusted and
// say which link broke and what to do. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/revocations.h"
#include "shared/crypto/root_key.h"
#include "shared/protocol/messages.h"

namespace gleaner::crypto {

[[nodiscard]] protocol::SignedStatement sign_statement(protocol::StatementType type, std::string payload,
                                                       const PrivateKey& key);
// The same for many, under one signature; in order.
struct UnsignedStatement {
  protocol::StatementType type = protocol::StatementType::grant;
  std::string payload;
};
[[nodiscard]] std::vector<protocol::SignedStatement> sign_statements(
    std::vector<UnsignedStatement> statements, const PrivateKey& key);
// The same for several receivers, under one signature. None can tell from its proofs, not even by guessing,
// what the others are told: every statement stands beside a random text.
[[nodiscard]] std::vector<std::vector<protocol::SignedStatement>> sign_for_many(
    std::vector<std::vector<UnsignedStatement>> receivers, const PrivateKey& key);
[[nodiscard]] Result<protocol::SignedStatement> sign_statement(protocol::StatementType type,
                                                               std::string payload, const RootKey& key);
// Type and signature only; the caller must have reason to trust statement.key.
[[nodiscard]] Status check_signature(const protocol::SignedStatement& statement,
                                     protocol::StatementType type);

// A KeyCertificate by `root_key` (32 raw bytes) for `project`, valid at `now`. A clock that is off by up to
// five minutes is forgiven.
[[nodiscard]] Result<protocol::KeyCertificate> check_key_certificate(
    const protocol::SignedStatement& statement, protocol::StatementType type, std::string_view root_key,
    std::string_view project, Timestamp now);

// What a client knows once it has checked a project document against the fingerprint of its join code.
struct ProjectTrust {
  std::string project;
  Bytes root_key;
  Bytes work_key;
  protocol::ProjectDocument document;
  Revocations revocations;
};
// Of a work key that the present one has replaced; null: it is none of them. Not checked yet.
[[nodiscard]] const protocol::SignedStatement* former_work_certificate(const ProjectTrust& trust,
                                                                       std::string_view key);
// `seen`: the newest list that is known of this project. A document that brings an older one, or none, is
// refused, and so is one whose work key is on the list that it brings.
[[nodiscard]] Result<ProjectTrust> check_project(const protocol::SignedStatement& statement,
                                                 std::string_view root_fingerprint, Timestamp now,
                                                 const Revocations& seen = {});

// What a grant's payload says, with what its context adds, which must have the digest that the payload names
// and be of its problem. Whether the signature holds is not looked at. Errors: untrusted.
[[nodiscard]] Result<protocol::Grant> read_grant(const protocol::SignedStatement& statement);
// Signed by the project's work key or by a former one, which must still be certified at `now` and not
// revoked; for `host`, not past its deadline.
[[nodiscard]] Result<protocol::Grant> check_grant(const protocol::SignedStatement& statement,
                                                  const ProjectTrust& trust, HostId host, Timestamp now);
[[nodiscard]] Result<protocol::Acknowledgement> check_acknowledgement(
    const protocol::SignedStatement& statement, const ProjectTrust& trust, HostId host);
// Those of one reply, whichever hosts they are for. A signature that neighbours share is verified once. The
// first that does not hold, or cannot be read, is the error.
[[nodiscard]] Status check_acknowledgements(const std::vector<protocol::SignedStatement>& statements,
                                            const ProjectTrust& trust);
// Signed by `work_key`; for `host` and `digest`, not past its end.
[[nodiscard]] Result<protocol::BlobAddress> check_blob_address(const protocol::SignedStatement& statement,
                                                               std::string_view work_key, HostId host,
                                                               const std::string& digest, Timestamp now);
// The same, for an upload of `bytes`, of which each part is a part.
[[nodiscard]] Result<protocol::PutAddresses> check_put_addresses(const protocol::SignedStatement& statement,
                                                                 std::string_view work_key, HostId host,
                                                                 const std::string& digest,
                                                                 std::int64_t bytes, Timestamp now);
// The application statement by a signer that the root key certified. A certificate that has run out since the
// application was signed is refused too: sign again. So is what is revoked.
[[nodiscard]] Result<protocol::ApplicationStatement> check_application(
    const protocol::SignedStatement& application, const protocol::SignedStatement& signer,
    std::string_view root_key, std::string_view project, Timestamp now, const Revocations& revocations = {});

}  // namespace gleaner::crypto
