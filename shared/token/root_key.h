// The root key as people name it: the file `root.key`, or a key in a hardware token (PKCS#11) by its URI
// (RFC 7512), which never leaves it. Thread-safe; a token signs for one caller at a time.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/root_key.h"
#include "shared/io/files.h"

namespace gleaner::token {

[[nodiscard]] bool is_token_uri(std::string_view text);  // "pkcs11:..."

// Errors: those of bundle::read_key_file; of a token: not_found (no such token or key), forbidden (the PIN),
// invalid (not an Ed25519 key, not a URI), unavailable (built without p11-kit). Each says what to do.
[[nodiscard]] Result<crypto::RootKey> open_root_key(const io::Files& files, const std::string& file_or_uri);

// The same of a URI alone. It names one key by `token` and `object` or `id`; the PIN is in the file that
// `pin-source` names (mode 0600), or is `pin-value`, which other users can see while the command runs.
// `module-path` names a module that p11-kit is not set up for.
[[nodiscard]] Result<crypto::RootKey> open_token_key(const io::Files& files, const std::string& uri);

}  // namespace gleaner::token
