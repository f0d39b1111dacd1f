// What checks of statements have in common. Private to this module. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::crypto {

[[nodiscard]] Error refuse_statement(protocol::StatementType type, const std::string& reason);

// The signature is by `key`, and nobody else's.
[[nodiscard]] Status check_signed_by(const protocol::SignedStatement& statement, protocol::StatementType type,
                                     std::string_view key);

// REQUIRES: the signature was checked. What a trusted key signed and we cannot read is still not to be used.
template <typename Payload>
[[nodiscard]] Result<Payload> decode_payload(const protocol::SignedStatement& statement) {
  auto payload = protocol::decode<Payload>(statement.payload);
  if (payload.ok()) return payload;
  return refuse_statement(statement.type, "cannot be read (" + payload.error().message +
                                              "): the server may be newer than this program; update it");
}

// `name`: of whom it certifies.
[[nodiscard]] Status check_validity(protocol::StatementType type, const std::string& name,
                                    Timestamp not_before, Timestamp not_after, Timestamp now);
[[nodiscard]] Status check_host(protocol::StatementType type, HostId said, HostId host);
[[nodiscard]] Status check_deadline(protocol::StatementType type, Timestamp deadline, Timestamp now);

// All that check_grant() looks at but the host.
[[nodiscard]] Result<protocol::Grant> check_project_grant(const protocol::SignedStatement& statement,
                                                          const ProjectTrust& trust, Timestamp now);

// The project's work key, or the former one that `key` is, certified at `now` and not revoked. What else
// `key` may be, it is not returned: nothing is signed by it.
[[nodiscard]] Result<Bytes> trusted_work_key(std::string_view key, const ProjectTrust& trust, Timestamp now);

}  // namespace gleaner::crypto
