// Whether a TLS server is trusted: by its own key if that is pinned, else by who may vouch for it. Private to
// this module. One thread at a time.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/http_client.h"

namespace gleaner::io {

struct TrustRules {
  Vouchers vouchers = {};
  std::shared_ptr<const RefusedTlsKeys> refused = {};  // keys that no server may show; null: none
  std::shared_ptr<const PinnedTlsKey> pinned = {};     // null: none
  bool anybody = false;                                // every server will do
};

class ServerTrust {
 public:
  explicit ServerTrust(TrustRules rules) : rules_(std::move(rules)) {}

  // Before each request: the name or address (without brackets) of its server.
  void expect_host(std::string host);
  // Makes the context's handshakes ask this object, which must outlive them, instead of OpenSSL's usual
  // check.
  void install(SSL_CTX* context);
  // Why the last handshake since expect_host() was refused; empty if none was.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // Digest of the key that the server of the last handshake showed, if the rules ask for it; else empty.
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  static int verify(X509_STORE_CTX* context, void* self);
  [[nodiscard]] Status decide(X509_STORE_CTX* context);
  [[nodiscard]] Status ask_system(X509_STORE_CTX* context) const;

  const TrustRules rules_;
  std::string host_;
  std::string refusal_;
  std::string shown_;
};

}  // namespace gleaner::io
