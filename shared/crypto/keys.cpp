#include "shared/crypto/keys.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include "shared/base/check.h"
#include "shared/crypto/openssl.h"

namespace gleaner::crypto {
namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t signature_bytes = 64;
constexpr int pem_bytes_max = 64 << 10;

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* data_of(Bytes& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// An encrypted key must not make OpenSSL ask for a password on the terminal of a daemon.
int no_password(char*, int, int, void*) {
  return -1;
}

}  // namespace

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown reason";
}

std::string content_of(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string raw_ed25519(const EVP_PKEY* key) {
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) return {};
  Bytes raw(key_bytes, '\0');
  std::size_t size = raw.size();
  CHECK_TRUE(EVP_PKEY_get_raw_public_key(key, data_of(raw), &size) == 1 && size == key_bytes);
  return raw;
}

struct Sha256::State {
  DigestOwner context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  CHECK_TRUE(state_->context != nullptr);
  CHECK_TRUE(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  CHECK_TRUE(state_ != nullptr);
  CHECK_TRUE(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish_hex() {
  CHECK_TRUE(state_ != nullptr);
  Bytes digest(32, '\0');
  CHECK_TRUE(EVP_DigestFinal_ex(state_->context.get(), data_of(digest), nullptr) == 1);
  state_.reset();
  return to_hex(digest);
}

Bytes sha256(std::string_view bytes) {
  // Looked up once: EVP_sha256() is at each use, which takes longer than a short text's digest.
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Bytes digest(32, '\0');
  CHECK_TRUE(EVP_Digest(bytes.data(), bytes.size(), data_of(digest), nullptr, method, nullptr) == 1);
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

Bytes random_secret(std::size_t bytes) {
  Bytes secret(bytes, '\0');
  CHECK_TRUE(RAND_priv_bytes(data_of(secret), static_cast<int>(bytes)) == 1);
  return secret;
}

PrivateKey PrivateKey::generate() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  CHECK_TRUE(key != nullptr);
  return PrivateKey(
      std::shared_ptr<void>(key, [](void* owned) { EVP_PKEY_free(static_cast<EVP_PKEY*>(owned)); }));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem) {
  if (pem.size() > pem_bytes_max)
    return Error{ErrorKind::invalid, "this is not a private key: it is far too long"};
  const BioOwner memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  CHECK_TRUE(memory != nullptr);
  KeyOwner key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr));
  if (key == nullptr) {
    const bool encrypted = pem.find("ENCRYPTED") != std::string_view::npos;
    const std::string reason = openssl_reason();
    return Error{ErrorKind::invalid,
                 encrypted ? "the private key is encrypted: decrypt it first (openssl pkey -in FILE)"
                           : "this is not a private key in PEM form (" + reason + "): is it the right file?"};
  }
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519)
    return Error{ErrorKind::invalid,
                 "the private key is not an Ed25519 key: create one with gleaner-admin keys"};
  return PrivateKey(std::shared_ptr<void>(key.release(),
                                          [](void* owned) { EVP_PKEY_free(static_cast<EVP_PKEY*>(owned)); }));
}

std::string PrivateKey::to_pem() const {
  const BioOwner memory(BIO_new(BIO_s_mem()));
  CHECK_TRUE(memory != nullptr);
  auto* key = static_cast<EVP_PKEY*>(key_.get());
  CHECK_TRUE(PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return content_of(memory.get());
}

Bytes PrivateKey::public_key() const {
  return raw_ed25519(static_cast<const EVP_PKEY*>(key_.get()));
}

Bytes PrivateKey::sign(std::string_view message) const {
  const DigestOwner context(EVP_MD_CTX_new());
  CHECK_TRUE(context != nullptr);
  auto* key = static_cast<EVP_PKEY*>(key_.get());
  CHECK_TRUE(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key) == 1);
  Bytes signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  CHECK_TRUE(EVP_DigestSign(context.get(), data_of(signature), &size, data_of(message), message.size()) == 1);
  CHECK_TRUE(size == signature_bytes);
  return signature;
}

bool verify(std::string_view public_key, std::string_view message, std::string_view signature) {
  if (public_key.size() != key_bytes || signature.size() != signature_bytes) return false;
  const KeyOwner key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data_of(public_key), public_key.size()));
  const DigestOwner context(EVP_MD_CTX_new());
  CHECK_TRUE(key != nullptr && context != nullptr);
  CHECK_TRUE(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  const int result =
      EVP_DigestVerify(context.get(), data_of(signature), signature.size(), data_of(message), message.size());
  ERR_clear_error();  // a refused signature leaves an entry behind that a later TLS call would read as its
                      // own
  return result == 1;
}

std::string machine_digest(const std::string& project, const std::string& machine_id) {
  return sha256_hex("gleaner-machine-1\n" + project + "\n" + machine_id);
}

Bytes fingerprint(std::string_view public_key) {
  return sha256(public_key);
}

}  // namespace gleaner::crypto
