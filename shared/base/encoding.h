// Bytes as text and back. `Bytes` is std::string throughout: it is what OpenSSL, SQLite, zlib and the HTTP
// library take. Decoders accept exactly what the encoders write (no white space, canonical padding bits).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gleaner {

using Bytes = std::string;

[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] std::optional<Bytes> from_hex(std::string_view text);  // lower case only
// RFC 4648 section 5, without padding.
[[nodiscard]] std::string to_base64url(std::string_view bytes);
[[nodiscard]] std::optional<Bytes> from_base64url(std::string_view text);

// Compares without revealing by its time where the strings differ.
[[nodiscard]] bool equal_constant_time(std::string_view a, std::string_view b);

}  // namespace gleaner
