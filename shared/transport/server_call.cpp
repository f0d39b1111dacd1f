#include "shared/transport/server_call.h"

#include <charconv>

#include "shared/base/limits.h"
#include "shared/protocol/error_status.h"
#include "shared/protocol/text.h"

namespace gleaner::transport {
namespace {

// What a daemon makes of it that has time: a server's fault may be mended, so it is asked again. Without a
// problem document it was not our server that spoke but something on the way (a proxy, a captive portal),
// which must not make a host stop or give anything up; only its 413 is obeyed: smaller messages may pass.
ErrorKind kind_of(int status, const Result<protocol::ProblemDocument>& document) {
  const ErrorKind kind =
      document.ok() ? protocol::kind_of_problem(*document, status) : protocol::kind_of_status(status);
  const bool believed = document.ok() || kind == ErrorKind::too_large;
  return believed && kind != ErrorKind::internal ? kind : ErrorKind::unavailable;
}

constexpr std::int64_t bytes_per_second_on_the_way = 4 << 10;

std::optional<Duration> retry_after_of(const io::HttpReply& reply) {
  const auto header = reply.headers.find("retry-after");
  if (header == reply.headers.end()) return std::nullopt;
  int seconds = 0;  // the date form is not used by our server, and clocks differ
  const std::string& text = header->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ec != std::errc{} || seconds < 0) return std::nullopt;
  return std::chrono::seconds{std::min(seconds, limits::retry_after_seconds_max)};
}

}  // namespace

Answer call(io::HttpClient& http, const Server& server, io::HttpRequest request) {
  if (!server.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + server.token);
  Result<io::HttpReply> reply = http.send(request);
  if (!reply.ok()) return {reply.error(), std::nullopt};
  const std::optional<Duration> retry_after = retry_after_of(*reply);
  if (reply->status >= 200 && reply->status < 300) return {std::move(reply), retry_after};
  const auto document = protocol::decode<protocol::ProblemDocument>(reply->body);
  std::string message = "the server answered " + std::to_string(reply->status);
  if (document.ok()) {
    const std::string& detail = document->detail.empty() ? document->title : document->detail;
    message = protocol::clean_line(detail, limits::message_length_max) + " (" + message + ")";
  }
  return {Error{kind_of(reply->status, document), message}, retry_after};
}

io::HttpRequest json_request(const Server& server, const std::string& path, std::string body) {
  io::HttpRequest request;
  request.method = "POST";
  request.url = server.base_url + path;
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  request.reply_bytes_max = limits::json_message_bytes_max;
  // What this system has taken of it is still on its way, and nothing tells how far.
  const auto sent = static_cast<std::int64_t>(request.body.size());
  request.timeout = control_timeout + std::chrono::seconds{sent / bytes_per_second_on_the_way};
  return request;
}

io::HttpRequest get_request(const Server& server, const std::string& path) {
  io::HttpRequest request;
  request.url = server.base_url + path;
  request.reply_bytes_max = limits::json_message_bytes_max;
  request.timeout = control_timeout;
  return request;
}

}  // namespace gleaner::transport
