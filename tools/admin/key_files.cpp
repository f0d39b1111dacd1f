#include "tools/admin/key_files.h"

#include <optional>
#include <string_view>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/tls_identity.h"
#include "shared/protocol/codec.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t public_key_file_bytes_max = 64 << 10;

// In lower case.
std::optional<std::string> as_digest(const std::string& text) {
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() != 32) return std::nullopt;
  return to_hex(*bytes);
}

}  // namespace

Result<Bytes> read_public_key(const io::Files& files, const std::string& text) {
  const auto as_key = [](std::string_view digits) -> std::optional<Bytes> {
    while (!digits.empty() && (digits.back() == '\n' || digits.back() == '\r')) digits.remove_suffix(1);
    auto key = from_hex(digits);
    if (key && key->size() == 32) return key;
    return std::nullopt;
  };
  if (auto key = as_key(text)) return *key;
  if (!files.exists(text))
    return Error{ErrorKind::not_found,
                 "\"" + text + "\" is neither a public key of 64 hex digits nor a file"};
  TRY_ASSIGN(const Bytes content, files.read(text, public_key_file_bytes_max));
  if (auto key = as_key(content)) return *key;
  if (const auto statement = protocol::decode<protocol::SignedStatement>(content); statement.ok())
    if (const auto certificate = protocol::decode<protocol::KeyCertificate>(statement->payload);
        certificate.ok())
      return certificate->key;
  return Error{ErrorKind::invalid,
               text + " holds neither a public key of 64 hex digits nor a certificate of one"};
}

Result<std::string> read_tls_key_digest(const io::Files& files, const std::string& text) {
  if (const auto digest = as_digest(text)) return *digest;
  TRY_ASSIGN(const Bytes content, files.read(text, public_key_file_bytes_max));
  auto digest = crypto::tls_key_digest(content);
  if (!digest.ok()) return digest.error().within(text);
  return digest;
}

Result<std::string> read_archive_digest(const io::Files& files, const std::string& text) {
  if (const auto digest = as_digest(text)) return *digest;
  if (!files.exists(text))
    return Error{ErrorKind::not_found,
                 "\"" + text + "\" is neither a digest of 64 hex digits nor an archive"};
  TRY_ASSIGN(const Bytes content, files.read(text, limits::bundle_bytes_max));
  return crypto::sha256_hex(content);
}

}  // namespace gleaner::admin
