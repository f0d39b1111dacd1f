// The join code: all that a volunteer needs. gleaner://HOST:PORT/CODE where CODE is base64url of
// version (1 byte) + root key fingerprint (32) + enrolment secret (16) + the first 4 bytes of a checksum over
// the rest (CRC-32, big-endian, address included), so that a mistyped code is told from a wrong server.
// Version 1 is that; version 2, a relay's code, has before the checksum where its hosts go when the relay is
// gone for good: enrolment secret (16) + port (2, big-endian) + host name or address (1 to 253 bytes). There
// is no other root key in it: whoever leads hosts elsewhere leads them to the same project.
//
// A client believes a server's TLS key by the project's root key alone, and no certificate authority, since
// one that its computer trusts may be that of a proxy that reads along. Version 3 is version 1 of a server
// that shows a certificate of a public authority, which then counts, too; version 4 is version 2 whose other
// place does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::protocol {

// Who vouches for a server's TLS key.
enum class Certificate : int {
  project = 1,  // the root key
  either = 2,   // or a certificate authority, for the server's name
};

// Another place of the same project.
struct Fallback {
  std::string host;  // as of a JoinCode
  int port = 0;
  Bytes enrolment_secret;
  Certificate certificate = Certificate::project;
};

struct JoinCode {
  std::string host;  // DNS name, IPv4, or IPv6 without brackets
  int port = 0;
  Bytes root_fingerprint;                 // SHA-256 of the root public key, 32 bytes
  Bytes enrolment_secret;                 // 16 bytes
  std::optional<Fallback> fallback = {};  // only with Certificate::project: it is a relay's code
  Certificate certificate = Certificate::project;

  [[nodiscard]] std::string base_url() const;  // https://HOST:PORT
  // With which a host joins there. REQUIRES: there is a fallback.
  [[nodiscard]] JoinCode fallback_code() const;
};

[[nodiscard]] std::string to_text(const JoinCode& code);
// Errors say what is wrong with the text as a person would have typed it.
[[nodiscard]] Result<JoinCode> parse_join_code(std::string_view text);

}  // namespace gleaner::protocol
