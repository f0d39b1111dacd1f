#include "server/http/tls_context.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

#include "shared/io/tls_records.h"

namespace gleaner::http {
namespace {

template <typename T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
struct BioReleaser {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioOwner = std::unique_ptr<BIO, BioReleaser>;
using CertificateOwner = std::unique_ptr<X509, Releaser<X509, X509_free>>;
using KeyOwner = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY, EVP_PKEY_free>>;

Error tls_error(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return {ErrorKind::invalid, reason == nullptr ? what : what + " (" + reason + ")"};
}

BioOwner reader_of(const std::string& text) {
  BioOwner bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CHECK_TRUE(bio != nullptr);
  return bio;
}

// An encrypted key must be an error, never a question on the terminal.
int refuse_passphrase(char*, int, int, void*) {
  return 0;
}

Status use_chain(SSL_CTX* context, const std::string& pem) {
  const BioOwner bio = reader_of(pem);
  const CertificateOwner leaf(PEM_read_bio_X509(bio.get(), nullptr, refuse_passphrase, nullptr));
  if (!leaf) return tls_error("the TLS certificate is not a PEM certificate: check the file");
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1)
    return tls_error("the TLS certificate cannot be used");
  while (true) {
    CertificateOwner issuer(PEM_read_bio_X509(bio.get(), nullptr, refuse_passphrase, nullptr));
    if (!issuer) break;
    if (SSL_CTX_add0_chain_cert(context, issuer.get()) != 1) {
      return tls_error("the TLS certificate chain cannot be used");
    }
    static_cast<void>(issuer.release());  // the context owns it now
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return tls_error("the TLS certificate chain is damaged after its first certificate");
  }
  ERR_clear_error();
  return {};
}

Status use_key(SSL_CTX* context, const std::string& pem) {
  const BioOwner bio = reader_of(pem);
  const KeyOwner key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_passphrase, nullptr));
  if (!key) return tls_error("the TLS key is not a PEM private key without passphrase: check the file");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return tls_error(
        "the TLS key does not belong to the TLS certificate: give the pair that was made together");
  }
  return {};
}

Status set_rules(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                   SSL_OP_SINGLE_ECDH_USE);
  // Moving buffers: a retried write may come from a string that was moved. Read-ahead: one recv() per
  // wake-up.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_max_send_fragment(context, io::tls_record_bytes);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets need no memory here
  char groups[] = "X25519:P-256:P-384";                         // OpenSSL's macro takes away a const
  const bool ok = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
                  SSL_CTX_set1_groups_list(context, groups) == 1 && SSL_CTX_set_num_tickets(context, 1) == 1;
  if (!ok) return tls_error("this OpenSSL refuses the server's TLS rules");
  return {};
}

const unsigned char* raw(const Bytes& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

bool set_digest(EVP_MAC_CTX* digest, const TicketKeys::Key& key) {
  char name[] = "SHA256";
  Bytes secret = key.digest_secret;  // OpenSSL's parameters are not const
  const std::array<OSSL_PARAM, 3> parameters{
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(digest, parameters.data()) == 1;
}

// OpenSSL's contract (SSL_CTX_set_tlsext_ticket_key_evp_cb): 1 goes on, 2 goes on and gives a new ticket, 0
// an unknown ticket, below 0 an error.
int seal_or_open(SSL* session, unsigned char* name, unsigned char* nonce, EVP_CIPHER_CTX* cipher,
                 EVP_MAC_CTX* digest, int seals) {
  auto* tickets = static_cast<TicketKeys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)));
  if (seals == 1) {
    const TicketKeys::Key key = tickets->sealing();
    std::copy(key.name.begin(), key.name.end(), name);
    const bool ok =
        RAND_bytes(nonce, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
        EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), raw(key.cipher_secret), nonce, nullptr) == 1 &&
        set_digest(digest, key);
    return ok ? 1 : -1;
  }
  const auto found = tickets->opening({reinterpret_cast<const char*>(name), TicketKeys::name_bytes});
  if (!found) return 0;
  const bool ok =
      set_digest(digest, found->key) &&
      EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), raw(found->key.cipher_secret), nonce, nullptr) == 1;
  if (!ok) return -1;
  return found->newest ? 1 : 2;
}

// A session holds for the chain that it began with: with another, clients are to see it.
Status set_resumption(SSL_CTX* context, const std::string& chain_pem, TicketKeys* tickets) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(chain_pem.data()), chain_pem.size(), digest.data());
  bool ok = SSL_CTX_set_session_id_context(context, digest.data(), digest.size()) == 1;
  SSL_CTX_set_timeout(context, std::chrono::duration_cast<std::chrono::seconds>(TicketKeys::period).count());
  if (tickets != nullptr)
    ok = ok && SSL_CTX_set_app_data(context, tickets) == 1 &&
         SSL_CTX_set_tlsext_ticket_key_evp_cb(context, seal_or_open) == 1;
  if (!ok) return tls_error("this OpenSSL refuses the server's way to resume sessions");
  return {};
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

std::int64_t TlsContext::not_after() const {
  const X509* const leaf = SSL_CTX_get0_certificate(get());
  std::tm time{};
  if (leaf == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &time) != 1) return 0;
  const std::chrono::year_month_day day{std::chrono::year{time.tm_year + 1900} / (time.tm_mon + 1) /
                                        time.tm_mday};
  const auto moment = std::chrono::sys_days{day} + std::chrono::hours{time.tm_hour} +
                      std::chrono::minutes{time.tm_min} + std::chrono::seconds{time.tm_sec};
  return std::chrono::duration_cast<std::chrono::seconds>(moment.time_since_epoch()).count();
}

Result<TlsContext> TlsContext::make(const std::string& certificate_chain_pem,
                                    const std::string& private_key_pem, std::shared_ptr<TicketKeys> tickets) {
  ERR_clear_error();
  TlsContext made;
  made.tickets_ = std::move(tickets);
  made.context_.reset(SSL_CTX_new(TLS_server_method()));
  if (!made.context_) return tls_error("OpenSSL cannot be used");
  TRY(set_rules(made.get()));
  TRY(use_chain(made.get(), certificate_chain_pem));
  TRY(use_key(made.get(), private_key_pem));
  TRY(set_resumption(made.get(), certificate_chain_pem, made.tickets_.get()));
  return made;
}

}  // namespace gleaner::http
