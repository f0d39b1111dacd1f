// A project's root key as what signs with it: a key in memory, or one that a hardware token keeps to itself
// (shared/bundle/token_key.h). A value; as thread-safe as what signs. Errors: what the token says.
#pragma once

#include <functional>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace gleaner::crypto {

class RootKey {
 public:
  // 64 raw bytes: Ed25519.
  using Sign = std::function<Result<Bytes>(std::string_view message)>;

  RootKey(const PrivateKey& key)  // NOLINT(google-explicit-constructor): a key in memory is one
      : public_key_(key.public_key()),
        sign_([key](std::string_view message) -> Result<Bytes> { return key.sign(message); }) {}
  RootKey(Bytes public_key, Sign sign) : public_key_(std::move(public_key)), sign_(std::move(sign)) {}

  [[nodiscard]] const Bytes& public_key() const { return public_key_; }  // 32 raw bytes
  [[nodiscard]] Result<Bytes> sign(std::string_view message) const { return sign_(message); }

 private:
  Bytes public_key_;
  Sign sign_;
};

}  // namespace gleaner::crypto
