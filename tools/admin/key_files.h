// What key commands read besides the root key: keys and applications as people name them. Thread-safe.
#pragma once

#include <string>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::admin {

// The public half of an Ed25519 key: 64 hex digits, or a file with such or with a certificate of the key.
[[nodiscard]] Result<Bytes> read_public_key(const io::Files& files, const std::string& text);
// How a TLS key is named: 64 hex digits, or a file with its certificate.
[[nodiscard]] Result<std::string> read_tls_key_digest(const io::Files& files, const std::string& text);
// How an application version is named: 64 hex digits, or its archive.
[[nodiscard]] Result<std::string> read_archive_digest(const io::Files& files, const std::string& text);

}  // namespace gleaner::admin
