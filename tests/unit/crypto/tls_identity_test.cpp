#include "shared/crypto/tls_identity.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::crypto;
using namespace std::chrono_literals;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);
constexpr Duration day = std::chrono::hours{24};
const std::vector<std::string> names = {"localhost", "grid.example.org", "127.0.0.1", "::1"};

using Certificate = std::shared_ptr<X509>;

std::vector<Certificate> read(const std::string& pem) {
  const std::shared_ptr<BIO> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::vector<Certificate> chain;
  while (X509* certificate = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr))
    chain.emplace_back(certificate, X509_free);
  return chain;
}

std::string der_of(const Certificate& certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate.get(), &data);
  REQUIRE(size > 0);
  std::string der(reinterpret_cast<char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  return der;
}

std::vector<std::string> der_chain(const TlsIdentity& identity) {
  std::vector<std::string> chain;
  for (const auto& certificate : read(identity.certificate_chain_pem)) chain.push_back(der_of(certificate));
  return chain;
}

std::string refusal(const Status& status) {
  if (status.ok()) return "accepted";
  CHECK(status.error().kind == ErrorKind::untrusted);
  return status.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("OpenSSL itself accepts the identity, strictly and with host names") {
  const PrivateKey root = PrivateKey::generate();
  const TlsIdentity identity = make_tls_identity(root, names, now - day, now + day);
  const auto chain = read(identity.certificate_chain_pem);
  REQUIRE(chain.size() == 2);
  for (const char* name : {"localhost", "grid.example.org", "elsewhere.example.org"}) {
    const std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
    REQUIRE(X509_STORE_add_cert(store.get(), chain[1].get()) == 1);
    const std::shared_ptr<X509_STORE_CTX> context(X509_STORE_CTX_new(), X509_STORE_CTX_free);
    REQUIRE(X509_STORE_CTX_init(context.get(), store.get(), chain[0].get(), nullptr) == 1);
    X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
    REQUIRE(X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1);
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE);
    X509_VERIFY_PARAM_set_time(parameters, to_microseconds(now) / 1'000'000);
    const bool expected = std::string(name) != "elsewhere.example.org";
    CHECK((X509_verify_cert(context.get()) == 1) == expected);
  }
  CHECK(X509_check_ip_asc(chain[0].get(), "127.0.0.1", 0) == 1);
  CHECK(X509_check_ip_asc(chain[0].get(), "::1", 0) == 1);
  CHECK(X509_check_ip_asc(chain[0].get(), "10.0.0.1", 0) == 0);
  CHECK(X509_check_host(chain[0].get(), "localhost", 0, 0, nullptr) == 1);

  const std::string& pem = identity.private_key_pem;
  const std::shared_ptr<BIO> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr),
                                      EVP_PKEY_free);
  CHECK(X509_check_private_key(chain[0].get(), key.get()) == 1);
  CHECK(EVP_PKEY_get_id(X509_get0_pubkey(chain[1].get())) == EVP_PKEY_ED25519);
  const auto again = read(make_tls_identity(root, names, now - day, now + day).certificate_chain_pem);
  CHECK(ASN1_INTEGER_cmp(X509_get0_serialNumber(chain[0].get()), X509_get0_serialNumber(again[0].get())) !=
        0);
}

TEST_CASE("a comma in a name stays a comma") {
  const TlsIdentity identity =
      make_tls_identity(PrivateKey::generate(), {"a,DNS:evil.example"}, now, now + day);
  const auto chain = read(identity.certificate_chain_pem);
  CHECK(X509_check_host(chain[0].get(), "evil.example", 0, 0, nullptr) == 0);
}

TEST_CASE("a chain to the pinned root is accepted, whatever the order behind the leaf") {
  const PrivateKey root = PrivateKey::generate();
  const Bytes pin = fingerprint(root.public_key());
  auto chain = der_chain(make_tls_identity(root, names, now - day, now + day));
  CHECK(check_chain(chain, pin, now).ok());
  // Certificates that do not matter do not harm, even if they ran out.
  const auto old = der_chain(make_tls_identity(PrivateKey::generate(), names, now - 3 * day, now - 2 * day));
  chain.insert(chain.begin() + 1, old[1]);
  CHECK(check_chain(chain, pin, now).ok());
}

TEST_CASE("chains that do not hold are refused with the reason") {
  const PrivateKey root = PrivateKey::generate();
  const PrivateKey other = PrivateKey::generate();
  const Bytes pin = fingerprint(root.public_key());
  const auto chain = der_chain(make_tls_identity(root, names, now - day, now + day));
  const auto foreign = der_chain(make_tls_identity(other, names, now - day, now + day));

  contains(refusal(check_chain(foreign, pin, now)), "join code");
  contains(refusal(check_chain({chain[0]}, pin, now)), "join code");
  contains(refusal(check_chain({}, pin, now)), "sent none");
  contains(refusal(check_chain({"garbage", chain[1]}, pin, now)), "damaged");
  contains(refusal(check_chain({chain[0] + "x", chain[1]}, pin, now)), "damaged");
  contains(refusal(check_chain(std::vector<std::string>(11, chain[0]), pin, now)), "too long");
  // The real root beside a leaf that it did not sign.
  contains(refusal(check_chain({foreign[0], chain[1]}, pin, now)), "broken");
  contains(refusal(check_chain({foreign[0], chain[1], foreign[1]}, pin, now)), "broken");
  contains(refusal(check_chain(chain, "", now)), "join code");

  CHECK(check_chain(chain, pin, now + day + 4min).ok());
  CHECK(check_chain(chain, pin, now - day - 4min).ok());
  contains(refusal(check_chain(chain, pin, now + day + 6min)), "renew");
  contains(refusal(check_chain(chain, pin, now - day - 6min)), "check this computer's date");
}

TEST_CASE("every changed byte of a chain is refused or changes nothing that is trusted") {
  const PrivateKey root = PrivateKey::generate();
  const Bytes pin = fingerprint(root.public_key());
  const auto chain = der_chain(make_tls_identity(root, names, now - day, now + day));
  for (std::size_t which = 0; which < chain.size(); ++which) {
    for (std::size_t i = 0; i < chain[which].size(); ++i) {
      auto changed = chain;
      changed[which][i] = static_cast<char>(changed[which][i] ^ 0x55);
      if (check_chain(changed, pin, now).ok()) FAIL("certificate " << which << ", byte " << i);
    }
  }
}

TEST_CASE("a server certificate cannot act as an authority") {
  // The thief of a TLS key signs a certificate of his own with it.
  const PrivateKey root = PrivateKey::generate();
  const TlsIdentity identity = make_tls_identity(root, names, now - day, now + day);
  const auto chain = read(identity.certificate_chain_pem);
  const std::string& pem = identity.private_key_pem;
  const std::shared_ptr<BIO> memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::shared_ptr<EVP_PKEY> stolen(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr),
                                         EVP_PKEY_free);
  const Certificate forged(X509_dup(chain[0].get()), X509_free);
  X509_set_issuer_name(forged.get(), X509_get_subject_name(chain[0].get()));
  REQUIRE(X509_sign(forged.get(), stolen.get(), EVP_sha256()) > 0);
  contains(refusal(check_chain({der_of(forged), der_of(chain[0]), der_of(chain[1])},
                               fingerprint(root.public_key()), now)),
           "broken");
}

TEST_CASE("a self-signed identity is one key that no root vouches for") {
  const TlsIdentity identity = make_self_signed_identity(names, now, now + 100 * day);
  const auto chain = read(identity.certificate_chain_pem);
  REQUIRE(chain.size() == 1);
  CHECK(X509_verify(chain.front().get(), X509_get0_pubkey(chain.front().get())) == 1);
  CHECK(X509_check_host(chain.front().get(), "grid.example.org", 0, 0, nullptr) == 1);
  CHECK(X509_check_ca(chain.front().get()) == 0);
  CHECK_FALSE(check_chain(der_chain(identity), fingerprint(PrivateKey::generate().public_key()), now).ok());
  const auto digest = tls_key_digest(identity.certificate_chain_pem);
  REQUIRE(digest.ok());
  CHECK(*digest != *tls_key_digest(make_self_signed_identity(names, now, now + day).certificate_chain_pem));
}
