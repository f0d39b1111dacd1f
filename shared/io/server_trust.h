// Whether a TLS server is trusted: by the pinned root key, else by the system's authorities and its host
// name. Private to this module. One thread at a time.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/http_client.h"

namespace gleaner::io {

class ServerTrust {
 public:
  // `root_fingerprint`: 32 raw bytes or empty. `refused`: keys that no server may show; null: none.
  ServerTrust(Bytes root_fingerprint, std::shared_ptr<const RefusedTlsKeys> refused)
      : root_fingerprint_(std::move(root_fingerprint)), refused_(std::move(refused)) {}

  // Before each request: the name or address (without brackets) of its server.
  void expect_host(std::string host);
  // Makes the context's handshakes ask this object, which must outlive them, instead of OpenSSL's usual
  // check.
  void install(SSL_CTX* context);
  // Why the last handshake since expect_host() was refused; empty if none was.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  static int verify(X509_STORE_CTX* context, void* self);
  [[nodiscard]] Status decide(X509_STORE_CTX* context) const;
  [[nodiscard]] Status ask_system(X509_STORE_CTX* context) const;

  const Bytes root_fingerprint_;
  const std::shared_ptr<const RefusedTlsKeys> refused_;
  std::string host_;
  std::string refusal_;
};

}  // namespace gleaner::io
