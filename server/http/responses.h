// Small helpers of the router: replies, path pieces, headers.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/server.h"
#include "shared/base/result.h"
#include "shared/protocol/codec.h"

namespace gleaner::http {

[[nodiscard]] Response error_response(const Error& error);
// The same for who finds no place (service/core/load.h): in 5 to 20 s, so that few of them come at a time.
[[nodiscard]] Response busy_response(const Error& error);
[[nodiscard]] Response json_response(std::string body);
[[nodiscard]] Response text_response(std::string body);
// The file of a blob, or what of it the header Range asks for.
[[nodiscard]] Response file_response(const io::Path& path, std::int64_t bytes, std::string_view range);

// The reply of a use case whose answer is encoded as it is.
template <typename T>
[[nodiscard]] std::function<void(Result<T>)> answer(Reply reply) {
  return [reply = std::move(reply)](Result<T> result) {
    reply(result.ok() ? json_response(protocol::encode(*result)) : error_response(result.error()));
  };
}
[[nodiscard]] std::function<void(Status)> answer_done(Reply reply);

[[nodiscard]] Error no_such_operation(const Request& request);
// The operations of monitoring systems and load balancers, which are no part of the API's versions: /healthz,
// /readyz, /metrics. False: the request is another one.
[[nodiscard]] bool watch(const Request& request, const Reply& reply, const std::function<Status()>& ready,
                         const std::function<void()>& metrics);
// The limit of a request's body, from its head alone. The server answers a sender that `may_send_large`
// refuses without reading a large body. The argument: whether the head has the body's length.
[[nodiscard]] std::int64_t body_limit(const Request& head,
                                      const std::function<bool(bool announced)>& may_send_large);
// Decodes the body and calls `use` with it, or answers why not.
template <typename Message, typename Use>
void with_body(const Request& request, const Reply& reply, Use use) {
  auto message = protocol::decode<Message>(request.body);
  if (!message.ok()) return reply(error_response(message.error()));
  use(std::move(*message));
}

// "/v1/admin/problems/7/pause" -> {"v1","admin","problems","7","pause"}; empty pieces are kept.
[[nodiscard]] std::vector<std::string> split_path(const std::string& path);
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);  // non-negative, whole
[[nodiscard]] std::string header(const Request& request, const std::string& name);
// "Authorization: Bearer TOKEN", or empty.
[[nodiscard]] std::string bearer_token(const Request& request);

// The value of that cookie in a header "Cookie: A=1; B=2", or empty.
[[nodiscard]] std::string cookie(std::string_view header, std::string_view name);
// Whether a browser sends this for a page of this very server: by Sec-Fetch-Site where it says that, by
// Origin (https, and the host that was asked). Who says neither is no browser, or one that asks for its user.
[[nodiscard]] bool from_same_origin(const Request& request);

struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
// "bytes=A-B", "bytes=A-" or "bytes=-N" of a resource of `size` bytes (RFC 9110, one range). No header: all
// of it. invalid: answer 416.
[[nodiscard]] Result<ByteRange> parse_byte_range(std::string_view header, std::int64_t size);

}  // namespace gleaner::http
