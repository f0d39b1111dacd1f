// Keys of hosts that tests have join, by names: the same key for the same name, and found again by its public
// half. One thread.
#pragma once

#include <map>
#include <string>

#include "shared/base/check.h"
#include "shared/base/encoding.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service::testing {

inline std::map<Bytes, crypto::PrivateKey>& joining_keys() {
  static std::map<Bytes, crypto::PrivateKey> keys;
  return keys;
}

inline crypto::PrivateKey key_of(const std::string& name) {
  // PKCS#8 of an Ed25519 key: this, and its 32 bytes (RFC 8410, 7). 48 bytes are 64 letters without padding.
  static const Bytes head("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16);
  std::string letters = to_base64url(head + crypto::sha256(name));
  for (char& letter : letters) letter = letter == '-' ? '+' : letter == '_' ? '/' : letter;
  auto key = crypto::PrivateKey::from_pem("-----BEGIN PRIVATE KEY-----\n" + letters +
                                          "\n-----END PRIVATE KEY-----\n");
  CHECK_TRUE(key.ok());
  joining_keys().insert_or_assign(key->public_key(), *key);
  return *key;
}

// What it signs to join with this request: directly, or through a relay.
inline protocol::Enrolment enrolment_of(const protocol::EnrolRequest& request, const std::string& project,
                                        const Bytes& nonce, std::optional<HostId> relay = {}) {
  const auto tls_key = request.relay ? std::optional(request.relay->tls_key) : std::nullopt;
  return {project, relay, request.host_key, request.machine, tls_key, nonce};
}

inline protocol::SignedStatement proof(const protocol::Enrolment& said, const crypto::PrivateKey& key) {
  return crypto::sign_statement(protocol::StatementType::enrolment, protocol::encode(said), key);
}

}  // namespace gleaner::service::testing
