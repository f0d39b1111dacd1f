// Heads are not written by Beast's serializer: one takes 0.35 us here and 0.75 us there (`tools/bench http`),
// 0.4 % of a core at 10,000 heartbeats a second, and it would replace a dozen lines only, because names,
// values and our own fields have to be checked either way, and its reasons are those of RFC 7231.
#include "server/http/server_response.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

namespace gleaner::http {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 29> reasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
}};

std::string_view reason_of(int status) {
  const auto* const found =
      std::find_if(reasons.begin(), reasons.end(), [&](const auto& entry) { return entry.first == status; });
  return found == reasons.end() ? std::string_view{} : found->second;  // RFC 9112: a reason may be empty
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

bool is_ours(std::string_view name) {
  static constexpr std::array<std::string_view, 4> ours{"Server", "Content-Length", "Connection",
                                                        "Transfer-Encoding"};
  return std::any_of(ours.begin(), ours.end(), [&](auto own) { return equal_ignoring_case(own, name); });
}

std::string status_line(int status) {
  std::string line = "HTTP/1.1 " + std::to_string(status) + " ";
  return line.append(reason_of(status)).append("\r\nServer: gleaner\r\n");
}

}  // namespace

bool carries_content(int status) {
  return status >= 200 && status != 204 && status != 304;
}

Result<std::string> encode_head(const Response& response, std::int64_t content_bytes, AfterResponse after) {
  if (response.status < 200 || response.status > 599) {
    return Error{ErrorKind::internal,
                 "a handler answered with the status " + std::to_string(response.status)};
  }
  std::string head = status_line(response.status);
  if (content_bytes == content_in_chunks)
    head += "Transfer-Encoding: chunked\r\n";
  else if (carries_content(response.status) && content_bytes != content_until_close)
    head += "Content-Length: " + std::to_string(content_bytes) + "\r\n";
  if (after == AfterResponse::close_connection) head += "Connection: close\r\n";
  for (const auto& [name, value] : response.headers) {
    if (is_ours(name)) continue;
    if (!is_name(name) || !is_value(value)) {
      return Error{ErrorKind::internal, "a handler answered with a header that cannot be sent"};
    }
    head.append(name).append(": ").append(value).append("\r\n");
  }
  return head += "\r\n";
}

std::string chunk_head(std::size_t bytes) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), bytes, 16).ptr;
  return std::string(digits.begin(), end) + "\r\n";
}

std::string server_timing(std::chrono::nanoseconds answering) {
  const auto thousandths = std::chrono::duration_cast<std::chrono::microseconds>(answering).count();
  const std::string rest = std::to_string(1000 + thousandths % 1000);
  return "total;dur=" + std::to_string(thousandths / 1000) + "." + rest.substr(1);
}

Response problem(int status, const std::string& detail) {
  Response response;
  response.status = status;
  response.headers["Content-Type"] = "application/problem+json";
  response.body = R"({"type":"about:blank","title":")" + std::string(reason_of(status)) + R"(","status":)" +
                  std::to_string(status) + R"(,"detail":")" + detail + "\"}\n";
  return response;
}

std::string plain_http_answer() {
  const std::string text = "This is an HTTPS port: use https:// instead of http://\n";
  return status_line(400) + "Content-Type: text/plain\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\nConnection: close\r\n\r\n" + text;
}

}  // namespace gleaner::http
