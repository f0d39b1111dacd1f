// Owners for OpenSSL's objects and its error texts. Private to this module. Thread-safe.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace gleaner::crypto {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioOwner = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using KeyOwner = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using DigestOwner = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using CertificateOwner = std::unique_ptr<X509, Freed<X509_free>>;
using StoreOwner = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using StoreContextOwner = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

// What OpenSSL reported last on this thread, in its words; clears its queue.
[[nodiscard]] std::string openssl_reason();
// Everything written to a memory BIO.
[[nodiscard]] std::string content_of(BIO* memory);
// The 32 raw bytes of an Ed25519 public key; empty for any other kind of key.
[[nodiscard]] std::string raw_ed25519(const EVP_PKEY* key);

}  // namespace gleaner::crypto
