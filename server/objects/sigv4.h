// Signatures of requests to S3-compatible stores: AWS Signature Version 4, service "s3", in headers or (for
// an address that somebody else may use for a while) in the query. As AWS describes it in "Authenticating
// Requests (AWS Signature Version 4)"; tested with the examples there. Pure; thread-safe; no errors.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::objects {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Credentials {
  std::string id;
  std::string secret;
  std::string region;
};

struct Unsigned {
  std::string method;
  std::string host;  // as the header Host has it: with the port unless it is the scheme's own
  std::string path;  // of characters that path_text() leaves alone, or has replaced
  Fields query;      // as they are, in any order
  Fields headers;    // to be signed besides host and x-amz-...; names in lower case
};

inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

// "x-amz-date", "x-amz-content-sha256" and "authorization". `payload`: the body's SHA-256 in hex, or
// unsigned_payload.
[[nodiscard]] Fields sign(const Unsigned& request, std::string_view payload, const Credentials& credentials,
                          Timestamp now);
// The path and the query of an address that allows this request until now + valid, with any body.
[[nodiscard]] std::string presign(const Unsigned& request, const Credentials& credentials, Timestamp now,
                                  Duration valid);

// Everything but letters, digits and "-._~" as %XX; of a path "/" stays, too.
[[nodiscard]] std::string query_text(std::string_view text);
[[nodiscard]] std::string path_text(std::string_view text);
// "a=1&b=2" sorted and replaced, as it is signed and as it is sent.
[[nodiscard]] std::string query_text(Fields query);

}  // namespace gleaner::objects
