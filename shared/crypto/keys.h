// Ed25519 keys (RFC 8032), SHA-256 digests and secrets, by OpenSSL. Functions are thread-safe; failures of
// the library itself (no entropy, no memory) abort.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::crypto {

// Lower-case hex / 32 raw bytes.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
[[nodiscard]] Bytes sha256(std::string_view bytes);

// Digest of a stream. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view bytes);
  [[nodiscard]] std::string finish_hex();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Cryptographically secure random bytes (tokens, enrolment secrets).
[[nodiscard]] Bytes random_secret(std::size_t bytes);

class PrivateKey {
 public:
  [[nodiscard]] static PrivateKey generate();
  // PEM PKCS#8, as `openssl genpkey -algorithm ed25519` writes.
  [[nodiscard]] static Result<PrivateKey> from_pem(std::string_view pem);
  [[nodiscard]] std::string to_pem() const;
  [[nodiscard]] Bytes public_key() const;                    // 32 raw bytes
  [[nodiscard]] Bytes sign(std::string_view message) const;  // 64 raw bytes
  // The OpenSSL key, for X.509 (tls_identity.cpp).
  [[nodiscard]] void* native() const { return key_.get(); }

 private:
  explicit PrivateKey(std::shared_ptr<void> key) : key_(std::move(key)) {}
  std::shared_ptr<void> key_;
};

// False for malformed keys and signatures too.
[[nodiscard]] bool verify(std::string_view public_key, std::string_view message, std::string_view signature);

// How a project knows a computer by its id (/etc/machine-id), which it cannot be traced by between projects.
[[nodiscard]] std::string machine_digest(const std::string& project, const std::string& machine_id);

// SHA-256 of the raw public key: what a join code pins.
[[nodiscard]] Bytes fingerprint(std::string_view public_key);

}  // namespace gleaner::crypto
