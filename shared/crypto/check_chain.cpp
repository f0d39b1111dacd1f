#include <openssl/err.h>

#include "shared/base/check.h"
#include "shared/crypto/openssl.h"
#include "shared/crypto/periods.h"
#include "shared/crypto/tls_identity.h"

namespace gleaner::crypto {
namespace {

constexpr std::size_t chain_length_max = 10;
constexpr std::size_t certificate_bytes_max = 64 << 10;

Error untrusted(const std::string& reason) {
  return {ErrorKind::untrusted, "the server's TLS certificate is not to be trusted: " + reason};
}

std::string subject_of(const X509* certificate) {
  char text[256];
  X509_NAME_oneline(X509_get_subject_name(certificate), text, sizeof text);
  return text;
}

std::string text_of(const ASN1_TIME* time) {
  const BioOwner memory(BIO_new(BIO_s_mem()));
  CHECK_TRUE(memory != nullptr);
  if (ASN1_TIME_print_ex(memory.get(), time, ASN1_DTFLGS_ISO8601) != 1) return "an unreadable time";
  return content_of(memory.get());
}

Result<std::vector<CertificateOwner>> parse(const std::vector<std::string>& chain_der) {
  if (chain_der.empty()) return untrusted("the server sent none");
  if (chain_der.size() > chain_length_max) return untrusted("the chain is too long");
  std::vector<CertificateOwner> chain;
  for (const auto& der : chain_der) {
    if (der.size() > certificate_bytes_max) return untrusted("it is too large");
    const auto* position = reinterpret_cast<const unsigned char*>(der.data());
    const auto* end = position + der.size();
    CertificateOwner certificate(d2i_X509(nullptr, &position, static_cast<long>(der.size())));
    ERR_clear_error();
    if (certificate == nullptr || position != end) return untrusted("it is damaged");
    chain.push_back(std::move(certificate));
  }
  return chain;
}

// The certificate with the pinned key that this very key signed: whatever else the peer sends cannot be an
// anchor.
X509* find_root(const std::vector<CertificateOwner>& chain, std::string_view root_fingerprint) {
  for (const auto& certificate : chain) {
    const std::string key = raw_ed25519(X509_get0_pubkey(certificate.get()));
    if (key.empty() || !equal_constant_time(fingerprint(key), root_fingerprint)) continue;
    if (X509_verify(certificate.get(), X509_get0_pubkey(certificate.get())) == 1) return certificate.get();
  }
  ERR_clear_error();
  return nullptr;
}

// Our own check instead of OpenSSL's, for the forgiven minutes and for messages with the dates.
Status check_period(const X509* certificate, Timestamp now) {
  const auto seconds = [](Timestamp time) {
    return static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
  };
  time_t latest = seconds(now + clock_skew_forgiven);
  time_t earliest = seconds(now - clock_skew_forgiven);
  const ASN1_TIME* not_before = X509_get0_notBefore(certificate);
  const ASN1_TIME* not_after = X509_get0_notAfter(certificate);
  const int before = X509_cmp_time(not_before, &latest);
  const int after = X509_cmp_time(not_after, &earliest);
  if (before == 0 || after == 0) return untrusted("its period of validity is damaged");
  if (before > 0)
    return untrusted(subject_of(certificate) + " is valid only from " + text_of(not_before) +
                     " on: check this computer's date and time");
  if (after < 0)
    return untrusted(
        subject_of(certificate) + " expired at " + text_of(not_after) +
        ": the server's administrator must renew it, with `gleaner-admin keys rotate` where the root "
        "key is and `gleaner-server take-keys` on the server (or this computer's date is wrong)");
  return {};
}

struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }  // not the certificates in it
};
using StackOwner = std::unique_ptr<STACK_OF(X509), FreeStack>;

// Every signature, constraint and period from the leaf to `root`, which is trusted; no other certificate is.
Status check_links(const std::vector<CertificateOwner>& chain, X509* root, Timestamp now) {
  const StoreOwner store(X509_STORE_new());
  const StoreContextOwner context(X509_STORE_CTX_new());
  const StackOwner others(sk_X509_new_null());
  CHECK_TRUE(store != nullptr && context != nullptr && others != nullptr);
  CHECK_TRUE(X509_STORE_add_cert(store.get(), root) == 1);
  for (const auto& certificate : chain) CHECK_TRUE(sk_X509_push(others.get(), certificate.get()) > 0);
  CHECK_TRUE(X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), others.get()) == 1);
  CHECK_TRUE(X509_STORE_CTX_set_default(context.get(), "ssl_server") == 1);
  X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_NO_CHECK_TIME);
  const int result = X509_verify_cert(context.get());
  ERR_clear_error();
  if (result != 1) {
    const int reason = X509_STORE_CTX_get_error(context.get());
    return untrusted(std::string("its chain to the project's root key is broken (") +
                     X509_verify_cert_error_string(reason) +
                     "): somebody may be in between, or the server is set up wrongly");
  }
  const STACK_OF(X509)* verified = X509_STORE_CTX_get0_chain(context.get());
  for (int i = 0; i < sk_X509_num(verified); ++i) TRY(check_period(sk_X509_value(verified, i), now));
  return {};
}

}  // namespace

Status check_chain(const std::vector<std::string>& chain_der, std::string_view root_fingerprint,
                   Timestamp now) {
  TRY_ASSIGN(const auto chain, parse(chain_der));
  X509* root = find_root(chain, root_fingerprint);
  if (root == nullptr)
    return untrusted(
        "it does not belong to the project of the join code: check that code and the server's address");
  return check_links(chain, root, now);
}

}  // namespace gleaner::crypto
