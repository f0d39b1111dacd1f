#include "server/http/responses.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/protocol/error_status.h"

namespace gleaner::http {

Response error_response(const Error& error) {
  const protocol::ProblemDocument document = protocol::problem_document(error);
  Response response;
  response.status = document.status;
  response.headers["Content-Type"] = "application/problem+json";
  if (document.status == 401) response.headers["WWW-Authenticate"] = "Bearer";
  response.body = protocol::encode(document);
  return response;
}

Response file_response(const io::Path& path, std::int64_t bytes, std::string_view asked) {
  const auto range = parse_byte_range(asked, bytes);
  if (!range.ok()) {
    Response refusal = error_response(range.error());
    refusal.status = 416;
    refusal.headers["Content-Range"] = "bytes */" + std::to_string(bytes);
    return refusal;
  }
  Response response;
  response.headers["Content-Type"] = "application/octet-stream";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Accept-Ranges"] = "bytes";
  response.headers["Cache-Control"] = "private, max-age=31536000, immutable";
  if (range->bytes != bytes) {
    response.status = 206;
    response.headers["Content-Range"] = "bytes " + std::to_string(range->offset) + "-" +
                                        std::to_string(range->offset + range->bytes - 1) + "/" +
                                        std::to_string(bytes);
  }
  response.file = Response::FilePart{path, range->offset, range->bytes};
  return response;
}

Response busy_response(const Error& error) {
  Response response = error_response(error);
  response.headers["Retry-After"] = retry_after(5, 20);
  response.rest = std::chrono::seconds{1};
  return response;
}

Response json_response(std::string body) {
  Response response;
  response.headers["Content-Type"] = "application/json";
  response.headers["Cache-Control"] = "no-store";
  response.body = std::move(body);
  return response;
}

Response text_response(std::string body) {
  Response response;
  response.headers["Content-Type"] = "text/plain; charset=utf-8";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Cache-Control"] = "no-store";
  response.body = std::move(body);
  return response;
}

std::function<void(Status)> answer_done(Reply reply) {
  return [reply = std::move(reply)](Status status) {
    reply(status.ok() ? json_response("{\"version\":1}") : error_response(status.error()));
  };
}

Error no_such_operation(const Request& request) {
  return {ErrorKind::not_found, "no operation " + request.method + " " + request.path + ": see openapi.yaml"};
}

bool watch(const Request& request, const Reply& reply, const std::function<Status()>& ready,
           const std::function<void()>& metrics) {
  const auto& path = request.path;
  if (path != "/healthz" && path != "/readyz" && path != "/metrics") return false;
  if (request.method != "GET" && request.method != "HEAD") {
    reply(error_response(no_such_operation(request)));
  } else if (path == "/healthz") {
    reply(text_response("ok\n"));
  } else if (path == "/readyz") {
    const Status status = ready();
    reply(status.ok() ? text_response("ready\n") : error_response(status.error()));
  } else {
    metrics();
  }
  return true;
}

std::int64_t body_limit(const Request& head, const std::function<bool(bool announced)>& may_send_large) {
  if (head.path == "/v1/enrol") return small_body_bytes;
  const auto announced = parse_number(header(head, "content-length"));
  if (announced && *announced <= small_body_bytes) return small_body_bytes;
  if (!may_send_large(announced.has_value())) return 0;
  return head.path.starts_with("/v1/uploads/") ? limits::upload_chunk_bytes_max + (64 << 10)
                                               : limits::json_message_bytes_max;
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> pieces;
  std::size_t begin = path.starts_with('/') ? 1 : 0;
  for (;;) {
    const std::size_t end = path.find('/', begin);
    pieces.push_back(path.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return pieces;
    begin = end + 1;
  }
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || text.empty() || text[0] == '-')
    return std::nullopt;
  return value;
}

std::string header(const Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

std::string bearer_token(const Request& request) {
  const std::string text = header(request, "authorization");
  constexpr std::string_view scheme = "Bearer ";
  return text.starts_with(scheme) ? text.substr(scheme.size()) : "";
}

std::string cookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return std::string(pair.substr(name.size() + 1));
  }
  return {};
}

bool from_same_origin(const Request& request) {
  const std::string site = header(request, "sec-fetch-site");
  if (!site.empty() && site != "same-origin") return false;
  const std::string origin = header(request, "origin");
  return origin.empty() || origin == "https://" + header(request, "host");
}

Result<ByteRange> parse_byte_range(std::string_view text, std::int64_t size) {
  if (text.empty()) return ByteRange{0, size};
  const Error wrong{ErrorKind::invalid,
                    "Range: expected bytes=FIRST-LAST within " + std::to_string(size) + " bytes"};
  constexpr std::string_view unit = "bytes=";
  if (!text.starts_with(unit)) return wrong;
  text.remove_prefix(unit.size());
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return wrong;
  const auto first = parse_number(text.substr(0, dash));
  const auto last = parse_number(text.substr(dash + 1));
  if (dash == 0) {
    if (!last || *last == 0) return wrong;
    const std::int64_t bytes = std::min(*last, size);
    return ByteRange{size - bytes, bytes};
  }
  if (!first || *first >= size) return wrong;
  if (dash + 1 == text.size()) return ByteRange{*first, size - *first};
  if (!last || *last < *first) return wrong;
  return ByteRange{*first, std::min(*last, size - 1) - *first + 1};
}

}  // namespace gleaner::http
