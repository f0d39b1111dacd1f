// What all connections of the generator share: OpenSSL's context, and whether the server is the one that the
// join code names (its chain ends in the pinned root key, or it is the relay that the project vouches for). A
// chain that was found right is not checked again, so that the generator does not spend on it what a thousand
// computers would spend. One thread.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::loadgen {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SslOwner = std::unique_ptr<SSL, FreeSsl>;
using SessionOwner = std::unique_ptr<SSL_SESSION, FreeSsl>;

class TlsClient {
 public:
  // `root_fingerprint`: 32 raw bytes. `relay_key`: of a relay, the digest of its TLS key (tls_identity.h).
  explicit TlsClient(Bytes root_fingerprint, std::string relay_key = {});
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // A client's end on a connected socket, before its handshake. The ticket that the server gives goes to
  // `session`, which must outlive it.
  [[nodiscard]] SslOwner make(int socket, SessionOwner* session);
  // Why the last chain was refused; empty: none was.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  static int verify(X509_STORE_CTX* context, void* self);
  static int keep_session(SSL* ssl, SSL_SESSION* session);
  [[nodiscard]] Status decide(X509_STORE_CTX* context);

  const Bytes root_fingerprint_;
  const std::string relay_key_;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  std::unordered_set<Bytes> known_leaves_;  // digests of server certificates found right
  std::string refusal_;
};

}  // namespace gleaner::loadgen
