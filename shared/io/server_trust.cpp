#include "shared/io/server_trust.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "shared/base/clock.h"
#include "shared/crypto/tls_identity.h"
#include "shared/io/tls_records.h"

namespace gleaner::io {
namespace {

constexpr std::size_t issuer_length_max = 100;  // in a sentence

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
struct FreeStore {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};
struct FreeStoreContext {
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};

std::string der_of(const X509* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  CHECK_TRUE(size > 0);  // it was parsed a moment ago
  std::string der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  return der;
}

// What the peer sent, leaf first.
std::vector<std::string> peer_chain(X509_STORE_CTX* context) {
  const X509* leaf = X509_STORE_CTX_get0_cert(context);
  std::vector<std::string> chain = {der_of(leaf)};
  const STACK_OF(X509)* others = X509_STORE_CTX_get0_untrusted(context);
  for (int i = 0; i < sk_X509_num(others); ++i)
    if (sk_X509_value(others, i) != leaf) chain.push_back(der_of(sk_X509_value(others, i)));
  return chain;
}

// As one line of plain characters, whatever is in it.
std::string issuer_of(const X509* certificate) {
  const std::unique_ptr<BIO, FreeBio> text(BIO_new(BIO_s_mem()));
  CHECK_TRUE(text != nullptr);
  X509_NAME_print_ex(text.get(), X509_get_issuer_name(certificate), 0, XN_FLAG_ONELINE);
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, std::min(static_cast<std::size_t>(size), issuer_length_max)};
}

}  // namespace

void ServerTrust::expect_host(std::string host) {
  host_ = std::move(host);
  refusal_.clear();
  shown_.clear();
}

void ServerTrust::install(SSL_CTX* context) {
  SSL_CTX_set_cert_verify_callback(context, &verify, this);
  SSL_CTX_set_max_send_fragment(context, tls_record_bytes);
}

int ServerTrust::verify(X509_STORE_CTX* context, void* self) {
  auto& trust = *static_cast<ServerTrust*>(self);
  const Status decided = trust.decide(context);
  trust.refusal_ = decided.ok() ? "" : decided.error().message;
  X509_STORE_CTX_set_error(context, decided.ok() ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  ERR_clear_error();
  return decided.ok() ? 1 : 0;
}

Status ServerTrust::decide(X509_STORE_CTX* context) {
  if (rules_.refused || rules_.pinned || rules_.anybody) {
    TRY_ASSIGN(shown_, crypto::tls_key_digest(der_of(X509_STORE_CTX_get0_cert(context))));
  }
  if (rules_.anybody) return {};
  if (rules_.refused && rules_.refused->contains(shown_))
    return Error{ErrorKind::untrusted,
                 "the server's TLS key was revoked by the project's root key: who has it now is not to be "
                 "trusted; the project's server must show a new one"};
  if (rules_.pinned && rules_.pinned->digest() == shown_) return {};
  if (rules_.vouchers.root_fingerprint.empty() && rules_.vouchers.authorities) return ask_system(context);
  const Status pinned =
      crypto::check_chain(peer_chain(context), rules_.vouchers.root_fingerprint, system_clock().now());
  if (pinned.ok()) return {};
  const Status system = ask_system(context);
  if (system.ok() && rules_.vouchers.authorities) return {};
  if (system.ok())
    return Error{ErrorKind::untrusted,
                 "something between here and the server reads this connection: it shows a certificate of \"" +
                     issuer_of(X509_STORE_CTX_get0_cert(context)) +
                     "\", which this computer trusts, in place of the project's; use another network, or ask "
                     "the project for a new join code if its server has such a certificate"};
  if (!rules_.vouchers.authorities) return pinned;
  return Error{ErrorKind::untrusted,
               pinned.error().message + "; nor is it trusted otherwise: " + system.error().message};
}

Status ServerTrust::ask_system(X509_STORE_CTX* context) const {
  const std::unique_ptr<X509_STORE, FreeStore> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreeStoreContext> check(X509_STORE_CTX_new());
  CHECK_TRUE(store != nullptr && check != nullptr);
  // Reads certificates only as they are asked for; without any, nothing is trusted.
  X509_STORE_set_default_paths(store.get());
  CHECK_TRUE(X509_STORE_CTX_init(check.get(), store.get(), X509_STORE_CTX_get0_cert(context),
                                 X509_STORE_CTX_get0_untrusted(context)) == 1);
  CHECK_TRUE(X509_STORE_CTX_set_default(check.get(), "ssl_server") == 1);
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(parameters, host_.c_str()) != 1)
    CHECK_TRUE(X509_VERIFY_PARAM_set1_host(parameters, host_.c_str(), host_.size()) == 1);
  const int result = X509_verify_cert(check.get());
  ERR_clear_error();
  if (result == 1) return {};
  return Error{ErrorKind::untrusted,
               "this system's certificate authorities do not vouch for " + host_ + " (" +
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get())) + ")"};
}

}  // namespace gleaner::io
