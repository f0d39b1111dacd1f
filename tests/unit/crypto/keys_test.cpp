#include "shared/crypto/keys.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <set>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::crypto;

namespace {

// PKCS#8 around a raw Ed25519 secret (RFC 8410, section 7).
std::string pem_of(std::string_view secret_hex) {
  const Bytes der = from_hex("302e020100300506032b657004220420" + std::string(secret_hex)).value();
  std::string text(100, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(der.data()), static_cast<int>(der.size()));
  text.resize(static_cast<std::size_t>(size));
  return "-----BEGIN PRIVATE KEY-----\n" + text + "\n-----END PRIVATE KEY-----\n";
}

std::string other_key_pem(const char* cipher) {
  EVP_PKEY* key = cipher == nullptr ? EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")
                                    : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  BIO* memory = BIO_new(BIO_s_mem());
  const EVP_CIPHER* how = cipher == nullptr ? nullptr : EVP_get_cipherbyname(cipher);
  REQUIRE(PEM_write_bio_PKCS8PrivateKey(memory, key, how, "pass", cipher == nullptr ? 0 : 4, nullptr,
                                        nullptr) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  EVP_PKEY_free(key);
  return pem;
}

struct Vector {
  const char *secret, *key, *message, *signature;
};

}  // namespace

TEST_CASE("Ed25519 matches RFC 8032, section 7.1") {
  const Vector vectors[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                             "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                             "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33ba"
                             "cc61e39701cf9b46bd25bf5f0595bb"
                             "e24655141438e7a100b"},
                            {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                             "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                             "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996"
                             "e458f3613d0f11d8c387b2eaeb430"
                             "2aeeb00d291612bb0c00"},
                            {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                             "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                             "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f29"
                             "0ae67f760984dc6594a7c15e9716e"
                             "d28dc027beceea1ec40a"}};
  for (const auto& vector : vectors) {
    const auto key = PrivateKey::from_pem(pem_of(vector.secret));
    REQUIRE(key.ok());
    CHECK(to_hex(key->public_key()) == vector.key);
    const Bytes message = from_hex(vector.message).value();
    CHECK(to_hex(key->sign(message)) == vector.signature);
    CHECK(verify(from_hex(vector.key).value(), message, from_hex(vector.signature).value()));
    CHECK_FALSE(verify(from_hex(vector.key).value(), message + "x", from_hex(vector.signature).value()));
  }
}

TEST_CASE("SHA-256 matches FIPS 180-4 examples, whole and in pieces") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_hex(sha256("abc")) == sha256_hex("abc"));
  Sha256 digest;
  for (int i = 0; i < 1000; ++i) digest.update(std::string(1000, 'a'));
  Sha256 moved = std::move(digest);
  CHECK(moved.finish_hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("keys survive PEM and sign the same") {
  const PrivateKey key = PrivateKey::generate();
  const std::string pem = key.to_pem();
  CHECK(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
  const auto again = PrivateKey::from_pem(pem);
  REQUIRE(again.ok());
  CHECK(again->public_key() == key.public_key());
  CHECK(again->sign("m") == key.sign("m"));
  CHECK(PrivateKey::generate().public_key() != key.public_key());
  CHECK(key.public_key().size() == 32);
  CHECK(fingerprint(key.public_key()) == sha256(key.public_key()));
}

TEST_CASE("what is not an Ed25519 key in PEM is refused with the reason") {
  const auto message = [](const std::string& pem) {
    const auto key = PrivateKey::from_pem(pem);
    REQUIRE_FALSE(key.ok());
    CHECK(key.error().kind == ErrorKind::invalid);
    return key.error().message;
  };
  CHECK(message("").find("not a private key") != std::string::npos);
  CHECK(message("nonsense").find("not a private key") != std::string::npos);
  CHECK(message(std::string(1 << 20, 'x')).find("too long") != std::string::npos);
  CHECK(message(other_key_pem(nullptr)).find("not an Ed25519") != std::string::npos);
  CHECK(message(other_key_pem("aes-256-cbc")).find("encrypted") != std::string::npos);
  std::string cut = PrivateKey::generate().to_pem();
  cut.erase(40, 10);
  CHECK(message(cut).find("not a private key") != std::string::npos);
}

TEST_CASE("any changed bit makes a signature false; malformed input does too") {
  const PrivateKey key = PrivateKey::generate();
  const Bytes signature = key.sign("message");
  REQUIRE(verify(key.public_key(), "message", signature));
  for (std::size_t bit = 0; bit < 512; ++bit) {
    Bytes changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(verify(key.public_key(), "message", changed));
  }
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Bytes changed = key.public_key();
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(verify(changed, "message", signature));
  }
  CHECK_FALSE(verify("", "message", signature));
  CHECK_FALSE(verify(key.public_key(), "message", ""));
  CHECK_FALSE(verify(key.public_key() + "x", "message", signature));
  CHECK_FALSE(verify(key.public_key(), "message", signature + "x"));
}

TEST_CASE("secrets are as long as asked and differ") {
  std::set<Bytes> seen;
  for (int i = 0; i < 100; ++i) CHECK(seen.insert(random_secret(16)).second);
  CHECK(random_secret(33).size() == 33);
}
