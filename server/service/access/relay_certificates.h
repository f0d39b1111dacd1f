// The project's word that a host is a relay. Pure.
#pragma once

#include <string>

#include "server/storage/store.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/revocations.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

inline constexpr Duration relay_certificate_valid = std::chrono::hours{30 * 24};

// A RelayCertificate as it stands to be signed; REQUIRES: the row is a relay's.
[[nodiscard]] protocol::SignedStatement unsigned_certificate(const storage::HostRow& row,
                                                             const std::string& project, Timestamp now);
void sign(protocol::SignedStatement& statement, const crypto::PrivateKey& work_key);
// Of a request to join as a relay: untrusted: which of its keys is revoked. Others are good.
[[nodiscard]] Status check_relay_keys(const crypto::Revocations& revocations,
                                      const protocol::EnrolRequest& request);
[[nodiscard]] Status check_relay_keys(const crypto::Revocations& revocations, const Bytes& host_key,
                                      const std::string& tls_key);

}  // namespace gleaner::service
