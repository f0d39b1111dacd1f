#include "tools/loadgen/tls_client.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <vector>

#include "shared/base/check.h"
#include "shared/base/clock.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/tls_identity.h"

namespace gleaner::loadgen {
namespace {

constexpr std::size_t known_leaves_max = 64;  // a server has one; a new one now and then

Bytes der_of(const X509* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  CHECK_TRUE(size > 0);  // it was parsed a moment ago
  Bytes der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  return der;
}

}  // namespace

TlsClient::TlsClient(Bytes root_fingerprint, std::string relay_key)
    : root_fingerprint_(std::move(root_fingerprint)),
      relay_key_(std::move(relay_key)),
      context_(SSL_CTX_new(TLS_client_method())) {
  CHECK_TRUE(context_ != nullptr);
  SSL_CTX* context = context_.get();
  CHECK_TRUE(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &verify, this);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, &keep_session);
}

SslOwner TlsClient::make(int socket, SessionOwner* session) {
  SslOwner ssl(SSL_new(context_.get()));
  CHECK_TRUE(ssl != nullptr && SSL_set_fd(ssl.get(), socket) == 1);
  SSL_set_app_data(ssl.get(), session);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

int TlsClient::keep_session(SSL* ssl, SSL_SESSION* session) {
  static_cast<SessionOwner*>(SSL_get_app_data(ssl))->reset(session);
  return 1;  // it is ours now
}

int TlsClient::verify(X509_STORE_CTX* context, void* self) {
  auto& client = *static_cast<TlsClient*>(self);
  const Status decided = client.decide(context);
  client.refusal_ = decided.ok() ? "" : decided.error().message;
  X509_STORE_CTX_set_error(context, decided.ok() ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  ERR_clear_error();
  return decided.ok() ? 1 : 0;
}

Status TlsClient::decide(X509_STORE_CTX* context) {
  const X509* leaf = X509_STORE_CTX_get0_cert(context);
  std::vector<std::string> chain = {der_of(leaf)};
  const Bytes digest = crypto::sha256(chain.front());
  if (known_leaves_.contains(digest)) return {};
  if (!relay_key_.empty()) {
    TRY_ASSIGN(const std::string shown, crypto::tls_key_digest(chain.front()));
    if (shown != relay_key_)
      return Error{ErrorKind::untrusted, "the relay shows another TLS key than the project vouches for"};
    known_leaves_.insert(digest);
    return {};
  }
  const STACK_OF(X509)* others = X509_STORE_CTX_get0_untrusted(context);
  for (int i = 0; i < sk_X509_num(others); ++i)
    if (sk_X509_value(others, i) != leaf) chain.push_back(der_of(sk_X509_value(others, i)));
  TRY(crypto::check_chain(chain, root_fingerprint_, system_clock().now()));
  if (known_leaves_.size() >= known_leaves_max) known_leaves_.clear();
  known_leaves_.insert(digest);
  return {};
}

}  // namespace gleaner::loadgen
