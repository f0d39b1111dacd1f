#include "shared/token/root_key.h"

#include "shared/bundle/project_keys.h"

namespace gleaner::token {

bool is_token_uri(std::string_view text) {
  return text.starts_with("pkcs11:");
}

Result<crypto::RootKey> open_root_key(const io::Files& files, const std::string& file_or_uri) {
  if (is_token_uri(file_or_uri)) return open_token_key(files, file_or_uri);
  TRY_ASSIGN(const crypto::PrivateKey key, bundle::read_key_file(files, file_or_uri));
  return crypto::RootKey(key);
}

}  // namespace gleaner::token
