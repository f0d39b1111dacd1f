#include "shared/crypto/tls_identity.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "shared/base/check.h"
#include "shared/crypto/openssl.h"

namespace gleaner::crypto {
namespace {

constexpr std::size_t certificate_text_bytes_max = 64 << 10;
constexpr int serial_bits = 127;  // RFC 5280: positive and at most 20 bytes

void set_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_new());
  CHECK_TRUE(number != nullptr);
  CHECK_TRUE(BN_rand(number.get(), serial_bits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ODD) == 1);  // odd: never 0
  CHECK_TRUE(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void set_period(X509* certificate, Timestamp from, Timestamp until) {
  const auto seconds = [](Timestamp time) {
    return static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
  };
  CHECK_TRUE(ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(from)) != nullptr);
  CHECK_TRUE(ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(until)) != nullptr);
}

using NameOwner = std::unique_ptr<X509_NAME, Freed<X509_NAME_free>>;

NameOwner make_name(const std::string& common_name) {
  NameOwner name(X509_NAME_new());
  CHECK_TRUE(name != nullptr);
  const auto add = [&](const char* field, const std::string& text) {
    CHECK_TRUE(X509_NAME_add_entry_by_txt(name.get(), field, MBSTRING_UTF8,
                                          reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1,
                                          0) == 1);
  };
  add("O", "Gleaner");
  add("CN", common_name);
  return name;
}

void add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  CHECK_TRUE(extension != nullptr);
  CHECK_TRUE(X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Built from objects, not from OpenSSL's configuration text: a comma in a name must stay a comma.
void add_names(X509* certificate, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> list(GENERAL_NAMES_new());
  CHECK_TRUE(list != nullptr);
  for (const auto& name : names) {
    GENERAL_NAME* entry = GENERAL_NAME_new();
    CHECK_TRUE(entry != nullptr);
    if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str()); address != nullptr) {
      GENERAL_NAME_set0_value(entry, GEN_IPADD, address);
    } else {
      ASN1_IA5STRING* text = ASN1_IA5STRING_new();
      CHECK_TRUE(text != nullptr);
      CHECK_TRUE(ASN1_STRING_set(text, name.data(), static_cast<int>(name.size())) == 1);
      GENERAL_NAME_set0_value(entry, GEN_DNS, text);
    }
    CHECK_TRUE(sk_GENERAL_NAME_push(list.get(), entry) > 0);
  }
  CHECK_TRUE(X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) == 1);
}

CertificateOwner make_certificate(const X509_NAME* subject, const X509_NAME* issuer, EVP_PKEY* key,
                                  Timestamp from, Timestamp until) {
  CertificateOwner certificate(X509_new());
  CHECK_TRUE(certificate != nullptr);
  CHECK_TRUE(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  set_serial(certificate.get());
  set_period(certificate.get(), from, until);
  CHECK_TRUE(X509_set_subject_name(certificate.get(), subject) == 1);
  CHECK_TRUE(X509_set_issuer_name(certificate.get(), issuer) == 1);
  CHECK_TRUE(X509_set_pubkey(certificate.get(), key) == 1);
  return certificate;
}

// The root key may be one that OpenSSL never sees: another one leaves all but the signature right.
Status sign(X509* certificate, const RootKey& root) {
  static const PrivateKey stand_in = PrivateKey::generate();
  CHECK_TRUE(X509_sign(certificate, static_cast<EVP_PKEY*>(stand_in.native()), nullptr) > 0);
  unsigned char* data = nullptr;
  const int size = i2d_re_X509_tbs(certificate, &data);
  CHECK_TRUE(size > 0);
  const std::string signed_part(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  TRY_ASSIGN(const Bytes signature, root.sign(signed_part));
  const ASN1_BIT_STRING* place = nullptr;
  X509_get0_signature(&place, nullptr, certificate);
  CHECK_TRUE(ASN1_STRING_set(const_cast<ASN1_BIT_STRING*>(place), signature.data(),
                             static_cast<int>(signature.size())) == 1);
  return {};
}

void add_server_extensions(X509* leaf, X509* issuer, const std::vector<std::string>& names) {
  add_extension(leaf, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(leaf, issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth");
  add_extension(leaf, issuer, NID_subject_key_identifier, "hash");
  add_extension(leaf, issuer, NID_authority_key_identifier, "keyid:always");
  add_names(leaf, names);
}

TlsIdentity written(const std::vector<const X509*>& certificates, const EVP_PKEY* private_key) {
  const BioOwner chain(BIO_new(BIO_s_mem()));
  const BioOwner key(BIO_new(BIO_s_mem()));
  CHECK_TRUE(chain != nullptr && key != nullptr);
  for (const X509* each : certificates) CHECK_TRUE(PEM_write_bio_X509(chain.get(), each) == 1);
  CHECK_TRUE(PEM_write_bio_PKCS8PrivateKey(key.get(), private_key, nullptr, nullptr, 0, nullptr, nullptr) ==
             1);
  return TlsIdentity{content_of(chain.get()), content_of(key.get())};
}

std::vector<CertificateOwner> read_chain(std::string_view pem) {
  std::vector<CertificateOwner> chain;
  const BioOwner memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  CHECK_TRUE(memory != nullptr);
  while (X509* const certificate = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr))
    chain.emplace_back(certificate);
  ERR_clear_error();  // the end of the text is one
  return chain;
}

std::string der_of(const X509* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  CHECK_TRUE(size > 0);  // it was parsed a moment ago
  std::string der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  return der;
}

}  // namespace

Result<std::string> tls_key_digest(std::string_view certificate) {
  certificate = certificate.substr(0, certificate_text_bytes_max);
  const auto* position = reinterpret_cast<const unsigned char*>(certificate.data());
  CertificateOwner parsed;
  if (certificate.find("-----BEGIN CERTIFICATE-----") != std::string_view::npos) {
    const BioOwner memory(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
    CHECK_TRUE(memory != nullptr);
    parsed.reset(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
  } else {
    parsed.reset(d2i_X509(nullptr, &position, static_cast<long>(certificate.size())));
  }
  ERR_clear_error();
  if (parsed == nullptr)
    return Error{ErrorKind::invalid, "there is no certificate (PEM or DER) in it: is it the right file?"};
  unsigned char* data = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(parsed.get()), &data);
  CHECK_TRUE(size > 0);  // it was parsed a moment ago
  const std::string digest =
      sha256_hex({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  OPENSSL_free(data);
  return digest;
}

TlsIdentity make_tls_identity(const PrivateKey& root, const std::vector<std::string>& names, Timestamp from,
                              Timestamp until) {
  return make_tls_identity(RootKey(root), names, from, until).value();  // a key in memory always signs
}

Status check_tls_identity(const TlsIdentity& identity, std::string_view root_fingerprint, Timestamp now) {
  const auto chain = read_chain(identity.certificate_chain_pem);
  std::vector<std::string> chain_der;
  for (const auto& certificate : chain) chain_der.push_back(der_of(certificate.get()));
  TRY(check_chain(chain_der, root_fingerprint, now));
  const BioOwner memory(
      BIO_new_mem_buf(identity.private_key_pem.data(), static_cast<int>(identity.private_key_pem.size())));
  CHECK_TRUE(memory != nullptr);
  const KeyOwner key(PEM_read_bio_PrivateKey(
      memory.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr));
  const bool matches = key != nullptr && X509_check_private_key(chain.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (matches) return {};
  return Error{ErrorKind::untrusted, "the TLS certificate is for another key than the one beside it"};
}

Result<TlsIdentity> make_tls_identity(const RootKey& root, const std::vector<std::string>& names,
                                      Timestamp from, Timestamp until) {
  const Bytes& raw = root.public_key();
  const KeyOwner root_key(EVP_PKEY_new_raw_public_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(raw.data()), raw.size()));
  CHECK_TRUE(root_key != nullptr);
  const KeyOwner leaf_key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  CHECK_TRUE(leaf_key != nullptr);

  // The root's name carries its fingerprint, so that two projects' roots are never mistaken for each other.
  const NameOwner root_name =
      make_name("Gleaner root " + to_hex(fingerprint(root.public_key())).substr(0, 32));
  const NameOwner leaf_name = make_name("Gleaner server");

  const CertificateOwner authority =
      make_certificate(root_name.get(), root_name.get(), root_key.get(), from, until);
  add_extension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(authority.get(), authority.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(authority.get(), authority.get(), NID_subject_key_identifier, "hash");
  TRY(sign(authority.get(), root));

  const CertificateOwner leaf =
      make_certificate(leaf_name.get(), root_name.get(), leaf_key.get(), from, until);
  add_server_extensions(leaf.get(), authority.get(), names);
  TRY(sign(leaf.get(), root));

  return written({leaf.get(), authority.get()}, leaf_key.get());
}

TlsIdentity make_self_signed_identity(const std::vector<std::string>& names, Timestamp from,
                                      Timestamp until) {
  const KeyOwner key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  CHECK_TRUE(key != nullptr);
  const NameOwner name = make_name("Gleaner relay");
  const CertificateOwner leaf = make_certificate(name.get(), name.get(), key.get(), from, until);
  add_server_extensions(leaf.get(), leaf.get(), names);
  CHECK_TRUE(X509_sign(leaf.get(), key.get(), EVP_sha256()) > 0);
  return written({leaf.get()}, key.get());
}

}  // namespace gleaner::crypto
