// The join code: all that a volunteer needs. gleaner://HOST:PORT/CODE where CODE is base64url of
// version (1 byte) + root key fingerprint (32) + enrolment secret (16) + the first 4 bytes of a checksum over
// the rest (CRC-32, big-endian, address included), so that a mistyped code is told from a wrong server.
// Version 1 is that; version 2, a relay's code, has before the checksum where its hosts go when the relay is
// gone for good: enrolment secret (16) + port (2, big-endian) + host name or address (1 to 253 bytes). There
// is no other root key in it: whoever leads hosts elsewhere leads them to the same project.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::protocol {

// Another place of the same project.
struct Fallback {
  std::string host;  // as of a JoinCode
  int port = 0;
  Bytes enrolment_secret;
};

struct JoinCode {
  std::string host;  // DNS name, IPv4, or IPv6 without brackets
  int port = 0;
  Bytes root_fingerprint;  // SHA-256 of the root public key, 32 bytes
  Bytes enrolment_secret;  // 16 bytes
  std::optional<Fallback> fallback = {};

  [[nodiscard]] std::string base_url() const;  // https://HOST:PORT
  // With which a host joins there. REQUIRES: there is a fallback.
  [[nodiscard]] JoinCode fallback_code() const;
};

[[nodiscard]] std::string to_text(const JoinCode& code);
// Errors say what is wrong with the text as a person would have typed it.
[[nodiscard]] Result<JoinCode> parse_join_code(std::string_view text);

}  // namespace gleaner::protocol
