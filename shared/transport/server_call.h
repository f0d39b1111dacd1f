// One exchange with the server, on any thread: the request is sent, and status and problem document are
// interpreted. Errors as shared/protocol/error_status.h maps them, with two exceptions: a server's own fault
// (internal) and an error page that is not our server's (no problem document; 413 apart) are unavailable: try
// again. Not thread-safe per client.
#pragma once

#include <optional>
#include <string>

#include "shared/base/result.h"
#include "shared/io/http_client.h"
#include "shared/protocol/codec.h"

namespace gleaner::transport {

struct Server {
  std::string base_url;
  std::string token;  // empty for what anyone may ask
};

struct Answer {
  Result<io::HttpReply> reply;          // 2xx only
  std::optional<Duration> retry_after;  // the server asked for it
};

inline constexpr Duration control_timeout = std::chrono::seconds{30};

[[nodiscard]] Answer call(io::HttpClient& http, const Server& server, io::HttpRequest request);
[[nodiscard]] io::HttpRequest json_request(const Server& server, const std::string& path, std::string body);
[[nodiscard]] io::HttpRequest get_request(const Server& server, const std::string& path);

// Decodes a reply; what is not our protocol is `unavailable` (a captive portal, a wrong proxy).
template <typename Reply>
[[nodiscard]] Result<Reply> understand(const Answer& answer) {
  if (!answer.reply.ok()) return answer.reply.error();
  auto decoded = protocol::decode<Reply>(answer.reply->body);
  if (!decoded.ok())
    return Error{
        ErrorKind::unavailable,
        "the answer is not understood (is something between us and the server?): " + decoded.error().message};
  return decoded;
}

}  // namespace gleaner::transport
